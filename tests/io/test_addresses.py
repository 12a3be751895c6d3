"""What is an address, what it shows of itself, and which options and variables a store is read with.

What a server may do with a request: send it on, answer without end, or not at all.

Tables that gzip packed are read as those that it packed.
"""

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import probtruth as pt
from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.io.addresses import location, matching, named, shown, with_column
from probtruth.io.table import opened
from probtruth.io.tools import tool_of
from probtruth.redaction import redacted


class TestLocation:
    @pytest.mark.parametrize("text", ["C:\\data\\a.csv", "C:/a.csv", "C://a.csv", "a.csv", "x:y/a.csv", "./s3:/a.csv"])
    def test_a_local_path(self, text: str) -> None:
        assert location(text) == Path(text)

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("ftp://host/a.csv", "the scheme ftp://"),
            ("file:///a.csv", "Write the path alone"),
            ("s3://", "an address of nothing"),
            ("s3:///a.csv", "an address of nothing"),
            ("http://example.org/a.csv", "write https"),
            ("http://localhost.example.org/a.csv", "write https"),
            ("http://localhost@example.org/a.csv", "write https"),
            ("s3://bucket/a b.csv", "a blank in it"),
            (Path("s3://bucket/a.csv"), "Pass it as text"),
        ],
    )
    def test_refused(self, path: str | Path, message: str) -> None:
        with pytest.raises(InputError, match=message):
            location(path)


class TestSecrets:
    @pytest.mark.parametrize(
        "text",
        [
            "https://me:SECRET@host/a.parquet",
            "https://host/a.parquet?sig=SECRET",
            "https://host/a.parquet?SECRET",
            "https://host/a.parquet#SECRET",
            "https://host/a.csv?x='y'&sig=SECRET",
            "s3://key:SECRET@bucket/a.csv",
            "s3://bucket/a.parquet?sig=SECRET",
            "https:/host/a.csv?sig=SECRET",  # as a Path has it
            "https://me:SECRET",  # cut off
        ],
    )
    def test_never_shown(self, text: str) -> None:
        words = [redacted(text), redacted(f"m={text}"), redacted(f"at {text!r}, row 3"), shown(text)]
        words.append(str(InputError(text, text, text, text)))
        assert "SECRET" not in " ".join(words)
        assert redacted(f"at {text!r} row 3").endswith(" row 3")

    @pytest.mark.parametrize(
        "text", ["s3://b/part-?.csv", "tcp://127.0.0.1:8786, not there", "https://h:80/a.csv", "x?y=z"]
    )
    def test_the_rest_stays(self, text: str) -> None:
        assert redacted(text) == text

    def test_a_refused_address_shows_none(self) -> None:
        with pytest.raises(InputError) as refused:
            location("https://me:SEC RET@host/a.csv?sig=SECRET")
        assert "SEC" not in str(refused.value)


class TestWords:
    @pytest.mark.parametrize(
        ("word", "pair"),
        [
            ("m=https://host/a.parquet?sig=x=", ("m", "https://host/a.parquet?sig=x=")),
            ("a=b=s3://bucket/a.csv", ("a=b", "s3://bucket/a.csv")),
            ("https://host/a.parquet?sig=x=", ("", "https://host/a.parquet?sig=x=")),
            ("a=b=c.csv", ("a=b", "c.csv")),
        ],
    )
    def test_named(self, word: str, pair: tuple[str, str]) -> None:
        assert named(word) == pair

    @pytest.mark.parametrize(
        ("spec", "pair"),
        [
            ("s3://bucket/a.csv:group", ("s3://bucket/a.csv", "group")),
            ("s3://bucket/a.csv", ("s3://bucket/a.csv", "")),
            ("http://localhost:80/a.csv", ("http://localhost:80/a.csv", "")),
            ("http://localhost:80/a.csv:col/umn", ("http://localhost:80/a.csv", "col/umn")),
            ("a.csv:group", ("a.csv", "group")),
            ("s3://bucket/a.csv.gz:meta:group", ("s3://bucket/a.csv.gz", "meta:group")),
            ("https://host:80/a.csv:meta:group", ("https://host:80/a.csv", "meta:group")),
        ],
    )
    def test_with_column(self, spec: str, pair: tuple[str, str]) -> None:
        assert with_column(spec) == pair

    def test_a_column_with_a_colon_in_a_file_that_is_there(self, tmp_path: Path) -> None:
        for name in ("a.csv", "b:c.csv"):
            (tmp_path / name).write_text("item,meta:group\nx,1\n")
            assert with_column(f"{tmp_path / name}:meta:group") == (str(tmp_path / name), "meta:group")
            assert with_column(str(tmp_path / name)) == (str(tmp_path / name), "")


class TestPatterns:
    def test_files_in_order(self, tmp_path: Path) -> None:
        for name in ("b.csv", "a.csv", "[c].csv"):
            (tmp_path / name).write_text("item,n\n1,2\n")
        assert matching(tmp_path / "[ab].csv") == [tmp_path / "a.csv", tmp_path / "b.csv"]
        assert matching(tmp_path / "[c].csv") is None  # there is such a file
        frame, source = opened(tmp_path / "?.csv").whole
        assert frame.height == 2
        assert source.at(1, "n") == f"{tmp_path / 'b.csv'}, line 2, column 'n'"

    def test_nothing_matches(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="a pattern that matches no file"):
            _ = opened(tmp_path / "*.csv").whole

    def test_other_columns(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("item,n\n1,2\n")
        (tmp_path / "b.csv").write_text("item,m\n1,2\n")
        with pytest.raises(InputError, match=r"b\.csv: got the columns 'item', 'm', expected those of .*a\.csv"):
            _ = opened(tmp_path / "*.csv").whole


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


LABELS = "item,annotator,label\nx,ann,cat\nx,bob,dog\ny,ann,cat\n"


def packed(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_a_packed_table_is_the_table(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(LABELS)
    plain = pt.read_annotations(tmp_path / "labels.csv")
    read = pt.read_annotations(packed(tmp_path / "labels.csv.gz", LABELS))
    assert (read.counts() == plain.counts()).all()
    assert read.index == plain.index


def test_messages_name_the_packed_file(tmp_path: Path) -> None:
    path = packed(tmp_path / "labels.csv.gz", LABELS + "z,,cat\n")
    with pytest.raises(InputError, match=r"labels\.csv\.gz, line 5, column 'annotator'"):
        pt.read_annotations(path)


def test_patterns_and_logs(tmp_path: Path) -> None:
    for name in ("a", "b"):
        packed(tmp_path / f"{name}.csv.gz", "item,n\n1,2\n")
    frame, source = opened(tmp_path / "*.csv.gz").whole
    assert frame.height == 2
    assert source.at(1, "n") == f"{tmp_path / 'b.csv.gz'}, line 2, column 'n'"
    assert tool_of(packed(tmp_path / "c.jsonl.gz", '{"label_counter": {"e": 1}, "uid": "x"}\n')) == "chaosnli"


def test_a_file_that_changes_is_read_anew(tmp_path: Path) -> None:
    path = packed(tmp_path / "t.csv.gz", "item,n\n1,2\n")
    assert opened(path).whole[0].height == 1
    packed(path, "item,n\n1,2\n3,4\n")
    assert opened(path).whole[0].height == 2


CUT_SHORT = gzip.compress(LABELS.encode(), mtime=0)[:-12]


@pytest.mark.parametrize("data", [b"item,n\n", CUT_SHORT, b""], ids=["plain text", "cut short", "empty"])
def test_damaged(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.csv.gz").write_bytes(data)
    with pytest.raises(InputError, match=r"t\.csv\.gz: got"):
        _ = opened(tmp_path / "t.csv.gz").whole


def test_a_small_file_that_grows_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "LARGEST", 1 << 20)
    with pytest.raises(InputError, match="more than"):
        _ = opened(packed(tmp_path / "t.csv.gz", "item,n\n" + "1,2\n" * 1_000_000)).whole
