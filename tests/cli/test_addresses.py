"""Commands that read from object stores: a local server of S3, what is printed, and what never is."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars
import pytest
from served import served

LABELS, N_PARTS, ROWS = ("no", "yes"), 3, 400
USER = "https://me:SECRET@"


def write_models(folder: Path) -> None:
    """Votes, and two models in parts of some rows each."""
    random = np.random.default_rng(5)
    items = [f"q{item}" for item in range(N_PARTS * ROWS)]
    votes = random.multinomial(3, [0.4, 0.6], len(items))
    polars.DataFrame({"item": items, **dict(zip(LABELS, votes.T, strict=True))}).write_csv(folder / "votes.csv")
    for model in "ab":
        probs = random.dirichlet([2, 3], len(items))
        frame = polars.DataFrame({"item": items, **dict(zip(LABELS, probs.T, strict=True))})
        (folder / model).mkdir()
        for part in range(N_PARTS):
            frame.slice(part * ROWS, ROWS).write_parquet(folder / model / f"{part}.parquet")


def command(folder: str, out: Path, *more: object) -> tuple[object, ...]:
    models = [f"--predictions={model}={folder}/{model}/*.parquet" for model in "ab"]
    votes = ("--annotations", f"{folder}/votes.csv", "--format", "counts")
    return ("run", *votes, *models, "--out", out, "--engine", "exact", *more)


class TestSettings:
    @pytest.mark.long
    def test_an_address_is_read_and_its_secret_not_shown(self, run, files, tmp_path) -> None:
        with served(tmp_path) as server:
            address = server.url("labels.csv", "?signature=SECRET")
            models = [f"--predictions={name}={files[name]}" for name in ("sharp", "flat")]
            outcome = run("run", "--annotations", address, *models, "--out", tmp_path / "out", "--engine", "exact")
        assert outcome.status == 0, outcome.err
        assert "SECRET" not in outcome.err
        written = b"".join(file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file())
        assert b"SECRET" not in written
        assert b"labels.csv?***" in written  # the command that the report shows

    def test_an_address_in_settings_does_not_start_in_their_folder(self, run, tmp_path, monkeypatch) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / "below").mkdir()
        (tmp_path / "probtruth.toml").write_text('[truth]\nfile = "ftp://host/a.csv"\n')
        monkeypatch.chdir(tmp_path / "below")
        outcome = run("truth", "--method", "majority")
        assert outcome.status == 2
        assert "ftp://host/a.csv: got the scheme ftp://" in outcome.err


@dataclass
class Proxy:
    """Passes bytes on to a server on this machine; once `is_broken`, it cuts answers off half-way."""

    target: tuple[str, int]
    is_broken: Callable[[], bool] = lambda: False
    answers: int = 0

    def __post_init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.target)
                threading.Thread(target=self._pass, args=(near, far, False), daemon=True).start()
                threading.Thread(target=self._pass, args=(far, near, True), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        with suppress(OSError), source, sink:
            while data := source.recv(1 << 16):
                self.answers += is_answer and data.startswith(b"HTTP/")
                if is_answer and self.is_broken():
                    sink.sendall(data[: len(data) // 2])
                    break
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)
            source.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True)
class Store:
    """A server of S3 with the bucket `data`, a key that may read it, and a proxy before it."""

    proxy: Proxy
    key: str
    secret: str


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install -e '.[addresses-test]'")
    import boto3
    import requests

    folder = tmp_path_factory.mktemp("store")
    write_models(folder)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {
        "endpoint_url": f"http://{host}:{port}",
        "region_name": "us-east-1",
        "aws_access_key_id": "first",
        "aws_secret_access_key": "first",
    }
    s3, iam = (boto3.client(name, **options) for name in ("s3", "iam"))
    s3.create_bucket(Bucket="data")
    for file in folder.rglob("*.*"):
        s3.upload_file(str(file), "data", str(file.relative_to(folder)))
    iam.create_user(UserName="reader")
    policy = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}'
    iam.put_user_policy(UserName="reader", PolicyName="all", PolicyDocument=policy)
    key = iam.create_access_key(UserName="reader")["AccessKey"]
    requests.post(f"http://{host}:{port}/moto-api/reset-auth", data="0", timeout=10)  # from here on keys are checked
    yield Store(Proxy((host, port)), key["AccessKeyId"], key["SecretAccessKey"])
    server.stop()


@pytest.fixture
def environment(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    values = {"ENDPOINT_URL": store.proxy.url, "ALLOW_HTTP": "true", "REGION": "us-east-1"}
    values |= {"ACCESS_KEY_ID": store.key, "SECRET_ACCESS_KEY": store.secret}
    for name, value in values.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return store


def no_secret(store: Store, folder: Path, outcome) -> None:
    """Checks that neither key stands in what was printed or written."""
    written = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    for secret in (store.secret, store.key):
        assert secret not in outcome.out + outcome.err
        assert secret.encode() not in written
    assert "Traceback" not in outcome.err


@pytest.mark.process
class TestStore:
    def test_the_result_of_local_files(self, environment, run, tmp_path, monkeypatch) -> None:
        monkeypatch.chdir(tmp_path)
        write_models(tmp_path)
        near = run(*command(".", tmp_path / "near"))
        far = run(*command("s3://data", tmp_path / "far"))
        assert (near.status, far.status) == (0, 0), near.err + far.err
        assert (tmp_path / "far" / "result.json").read_bytes() == (tmp_path / "near" / "result.json").read_bytes()
        no_secret(environment, tmp_path, far)

    @pytest.mark.parametrize(
        ("change", "address", "message"),
        [
            ({"AWS_SECRET_ACCESS_KEY": "SECRETwrong"}, "s3://data/votes.csv", "no permission to read it"),
            ({"AWS_ACCESS_KEY_ID": "SECRETwrong"}, "s3://data/votes.csv", "no permission to read it"),
            ({}, "s3://data/none.csv", "no such object"),
            ({}, "s3://data/none.parquet", "no such object"),
            ({}, "s3://none/votes.csv", "no such object"),
            ({}, "s3://data/none/", "a folder without Parquet files"),
            ({}, "s3://data/none*.parquet", "a pattern that matches no object"),
        ],
    )
    def test_one_message(self, change, address, message, environment, run, tmp_path, monkeypatch) -> None:
        for name, value in change.items():
            monkeypatch.setenv(name, value)
        outcome = run("truth", address, "--format", "counts", "--method", "majority")
        assert outcome.status == 2
        (line,) = outcome.err.splitlines()
        assert line.startswith(f"probtruth: {address}: got {message}")
        no_secret(environment, tmp_path, outcome)
        assert "SECRETwrong" not in line

    def test_a_connection_that_is_cut(self, environment, run, tmp_path, monkeypatch) -> None:
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        environment.proxy.is_broken = lambda: True
        cut = run(
            "truth", "s3://data/votes.csv", "--format", "counts", "--method", "majority", "--out", tmp_path / "cut.csv"
        )
        environment.proxy.is_broken = lambda: False
        assert cut.status == 2
        assert cut.err.count("probtruth: ") == 1
        assert "got no answer, or one that broke off" in cut.err
        assert not (tmp_path / "cut.csv").exists()
        no_secret(environment, tmp_path, cut)
