"""What a server may do with a request: send it on, answer without end, or not at all."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.io.addresses import location

TABLE = b"item,n\n1,2\n"


class Host:
    """A server on this machine: `/to/N` sends on to the N-th of `targets`, `/slow` and `/endless` do not end."""

    def __init__(self) -> None:
        self.targets: list[str] = []
        self.seen: list[tuple[str, str | None]] = []
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.seen.append((self.path, self.headers.get("Authorization")))
                if self.path.startswith("/to/"):
                    self.send_response(302)
                    self.send_header("Location", host.targets[int(self.path.removeprefix("/to/"))])
                    self.end_headers()
                    return
                if self.path == "/headers":
                    self._drip(b"HTTP/1.0 200 OK\r\nX: " + b"x" * 1000)
                    return
                self.send_response(200)
                if self.path == "/large.csv":
                    self.send_header("Content-Length", str(1 << 50))
                self.end_headers()
                if self.path == "/slow.csv":
                    self._drip(b"a" * 1000)
                elif self.path == "/endless.csv":
                    try:
                        while True:
                            self.wfile.write(b"a" * 65536)
                    except OSError:
                        return
                else:
                    self.wfile.write(TABLE)

            def _drip(self, data: bytes) -> None:
                try:
                    for at in range(len(data)):
                        self.wfile.write(data[at : at + 1])
                        self.wfile.flush()
                        time.sleep(0.05)
                except OSError:
                    return

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, path: str, user: str = "", host: str = "127.0.0.1") -> str:
        return f"http://{user}{host}:{self.port}/{path}"


@contextmanager
def hosts(n: int) -> Iterator[list[Host]]:
    made = [Host() for _ in range(n)]
    try:
        yield made
    finally:
        for host in made:
            host.server.shutdown()
            host.server.server_close()


class TestRedirects:
    def test_the_password_stays_with_its_host(self) -> None:
        with hosts(2) as (first, second):
            first.targets = [second.url("a.csv")]
            assert location(first.url("to/0", "me:SECRET@")).read_bytes() == TABLE
        assert first.seen[0][1] is not None
        assert second.seen == [("/a.csv", None)]

    def test_the_password_follows_on_the_same_host(self) -> None:
        with hosts(1) as (host,):
            host.targets = ["/a.csv"]
            location(host.url("to/0", "me:SECRET@"))
        assert [path for path, _ in host.seen] == ["/to/0", "/a.csv"]
        assert host.seen[0][1] == host.seen[1][1] == "Basic bWU6U0VDUkVU"  # base64 of me:SECRET

    def test_the_password_does_not_come_back_by_way_of_another_host(self) -> None:
        with hosts(2) as (first, second):
            first.targets, second.targets = [second.url("to/0")], ["http://localhost:1/a.csv"]
            with pytest.raises(InputError):
                location(first.url("to/0", "me:SECRET@"))
        assert second.seen == [("/to/0", None)]

    @pytest.mark.parametrize(
        "target",
        [
            "http://example.org/a.csv",
            "ftp://example.org/a.csv",
            "file:///etc/passwd",
            "http://localhost@example.org/a.csv",
            "s3://bucket/a.csv",
        ],
    )
    def test_a_redirect_obeys_the_rules_of_addresses(self, target: str) -> None:
        with hosts(1) as (host,):
            host.targets = [target]
            with pytest.raises(InputError, match="a redirect to"):
                location(host.url("to/0"))

    def test_a_redirect_shows_no_signature(self) -> None:
        with hosts(1) as (host,):
            host.targets = ["http://example.org/a.csv?sig=SECRET"]
            with pytest.raises(InputError) as refused:
                location(host.url("to/0"))
        assert "SECRET" not in str(refused.value)

    def test_a_circle_ends(self) -> None:
        with hosts(1) as (host,):
            host.targets = ["/to/0"]
            with pytest.raises(InputError, match="more than 10 redirects"):
                location(host.url("to/0"))
        assert len(host.seen) == 10

    def test_only_this_machine_sends_to_this_machine(self) -> None:
        with pytest.raises(InputError, match="a redirect to"):
            addresses._redirected("https://example.org/a.csv", "http://127.0.0.1/a.csv")


class TestBounds:
    def test_size_that_is_announced(self) -> None:
        with hosts(1) as (host,), pytest.raises(InputError, match="1048576 GiB, expected at most 64 GiB"):
            location(host.url("large.csv"))

    def test_size_that_is_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(addresses, "LARGEST", 1 << 20)
        with hosts(1) as (host,), pytest.raises(InputError, match=r"got more than 0\.000977 GiB"):
            location(host.url("endless.csv"))

    @pytest.mark.parametrize("path", ["slow.csv", "headers"])
    def test_total_time(self, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(addresses, "LONGEST", 0.5)
        start = time.monotonic()
        with hosts(1) as (host,), pytest.raises(InputError, match=r"no end after 0\.5 seconds"):
            location(host.url(path))
        assert time.monotonic() - start < 10  # the bytes take 50 seconds


def test_no_folder_for_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    monkeypatch.setattr(addresses, "_FOLDERS", [])
    with hosts(1) as (host,), pytest.raises(InputError, match=r"no folder for temporary files .*Set TMPDIR"):
        location(host.url("a.csv"))
