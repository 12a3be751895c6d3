"""Files of a folder, served over HTTP on this machine, and what was asked; an answer can be made to break off."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit


@dataclass
class Served:
    """`requests` lists (path, first byte asked for); beyond `most` of them answers break off half-way."""

    folder: Path
    requests: list[tuple[str, int]] = field(default_factory=list)
    most: int | None = None
    port: int = 0

    def url(self, name: str, query: str = "", user: str = "") -> str:
        """The address of a file."""
        return f"http://{user}127.0.0.1:{self.port}/{name}{query}"


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """A server that runs until the block ends."""
    state = Served(folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, body: bool) -> None:
            path = state.folder / urlsplit(self.path).path.lstrip("/")
            if "secret=wrong" in self.path or not path.is_file():
                self.send_response(403 if "secret=wrong" in self.path else 404)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            data = path.read_bytes()
            asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
            start, stop = 0, len(data)
            if asked and asked[1]:
                start, stop = int(asked[1]), min(int(asked[2] or len(data)) + 1, len(data))
            elif asked:
                start = max(len(data) - int(asked[2]), 0)
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(stop - start))
            self.send_header("Accept-Ranges", "bytes")
            if asked:
                self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(data)}")
            self.end_headers()
            if not body:
                return
            state.requests.append((path.name, start))
            if state.most is not None and len(state.requests) > state.most:
                self.wfile.write(data[start : start + (stop - start) // 2])
                self.close_connection = True
                return
            self.wfile.write(data[start:stop])

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
