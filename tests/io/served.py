"""Files of a folder, served over HTTP on this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


@dataclass
class Served:
    folder: Path
    port: int = 0

    def url(self, name: str, query: str = "", user: str = "") -> str:
        return f"http://{user}127.0.0.1:{self.port}/{name}{query}"


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """A server that runs until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, denied = folder / urlsplit(self.path).path.lstrip("/"), "secret=wrong" in self.path
            data = path.read_bytes() if path.is_file() and not denied else b""
            self.send_response(403 if denied else 200 if path.is_file() else 404)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2 if "break" in self.path else None])

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield Served(folder, server.server_address[1])
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
