"""Schedulers and a worker of Dask that speak TLS, in processes of their own, and Dask's settings of security."""

import datetime
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack

import numpy as np
import polars
import pytest

dask = pytest.importorskip("dask", reason="needs the extra `dask`")
pytest.importorskip("distributed", reason="needs the extra `dask`")
x509 = pytest.importorskip("cryptography.x509", reason="needs the extra `dask`")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # those of Dask about a busy machine

SECONDS = 60
DAY = datetime.timedelta(days=1)
SERVER = "from distributed.cli.dask_{} import main; main()"


def certificate(folder, name, authority=None, ended=False):
    """A key and its certificate, signed by an authority (None: by itself, as one); the key and the name."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, name)])
    issuer_key, issuer = authority or (key, subject)
    until = now - DAY if ended else now + DAY
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - 2 * DAY).not_valid_after(until)
    builder = builder.add_extension(x509.BasicConstraints(ca=authority is None, path_length=None), critical=True)
    pem = builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    (folder / f"{name}.pem").write_bytes(pem)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / f"{name}.key").write_bytes(key.private_bytes(*form))
    return key, subject


def settings(folder, authority, name, role="client"):
    """Dask's settings of security, by the names of files."""
    files = {"ca-file": f"{authority}.pem", f"{role}.cert": f"{name}.pem", f"{role}.key": f"{name}.key"}
    named = {f"distributed.comm.tls.{option}": str(folder / file) for option, file in files.items()}
    return {"distributed.comm.require-encryption": True, **named}


def environment(options):
    """The same as variables of the environment, as the manual of probtruth has them."""
    words = {"DASK_" + name.replace(".", "__").replace("-", "_").upper(): str(value) for name, value in options.items()}
    return {**os.environ, **words}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of two authorities, and of what each of them signed; labels and predictions of 3,000 items."""
    made = tmp_path_factory.mktemp("tls")
    ours, theirs = certificate(made, "ours"), certificate(made, "theirs")
    for name in ("scheduler", "worker", "mine"):
        certificate(made, name, ours)
    certificate(made, "ended", ours, ended=True)
    certificate(made, "stranger", theirs)
    for ending in ("pem", "key"):
        (made / f"damaged.{ending}").write_text("no certificate")
    rng, names = np.random.default_rng(3), [f"q{item}" for item in range(3000)]
    for name in ("soft", "a", "b"):
        share = rng.uniform(0.1, 0.9, len(names))
        polars.DataFrame({"item": names, "no": share, "yes": 1 - share}).write_parquet(made / f"{name}.parquet")
    return made


def server(stack, folder, role, *words, secured=True):
    """A scheduler or a worker, until the stack is closed."""
    options = settings(folder, "ours", role, role) if secured else {}
    command = [sys.executable, "-c", SERVER.format(role), *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = stack.enter_context(subprocess.Popen(command, env=environment(options), cwd=folder, **quiet))
    stack.callback(process.kill)


def address(stack, folder, protocol):
    """That of a scheduler which has just been started."""
    file = folder / f"{protocol}.json"
    words = ["--protocol", protocol, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    server(stack, folder, "scheduler", *words, "--scheduler-file", str(file), secured=protocol == "tls")
    until = time.monotonic() + SECONDS
    while not file.exists() or not file.stat().st_size:
        assert time.monotonic() < until, "no scheduler"
        time.sleep(0.05)
    return json.loads(file.read_text())["address"]


@pytest.fixture(scope="module")
def secured(folder):
    """The address of a scheduler that speaks TLS and has one worker."""
    with ExitStack() as stack:
        known = address(stack, folder, "tls")
        server(stack, folder, "worker", known, "--nthreads", "1", "--no-nanny", "--no-dashboard")
        yield known


def command(folder, out, *more):
    predictions = [f"--predictions={model}={folder / f'{model}.parquet'}" for model in "ab"]
    soft = ["--soft", str(folder / "soft.parquet")]
    return ["run", *soft, *predictions, "--out", str(out), "--engine", "exact", "--json", "--quiet", *more]


def test_a_cluster_that_speaks_tls(run, folder, secured, tmp_path):
    """With the settings in the environment; the answer is that of memory."""
    words = [sys.executable, "-m", "probtruth", *command(folder, tmp_path / "spread", "--dask", secured)]
    options = environment(settings(folder, "ours", "mine"))
    done = subprocess.run(words, env=options, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
    spread, held = json.loads(done.stdout), run(*command(folder, tmp_path / "held")).json
    assert secured.startswith("tls://")
    assert spread["versions"].pop("workers")
    assert spread == held


@pytest.mark.parametrize(
    ("authority", "name", "words"),
    [
        ("theirs", "stranger", "(the authority of distributed.comm.tls.ca-file did not sign the scheduler's"),
        ("theirs", "mine", "(the authority of distributed.comm.tls.ca-file did not sign the scheduler's"),
        ("ours", "stranger", "(it does not take the certificate of distributed.comm.tls.client)"),
        ("ours", "ended", "(it does not take the certificate of distributed.comm.tls.client)"),
        ("nowhere", "mine", "nowhere.pem, which is no file)"),
        ("ours", "nowhere", "(distributed.comm.tls.client.cert names"),
        ("ours", "damaged", "(the files of distributed.comm.tls are no certificates with their key"),
        (None, None, "(Dask's settings have no distributed.comm.tls.ca-file)"),
    ],
    ids=["another", "wrong CA", "wrong certificate", "ended", "no CA", "no certificate", "damaged", "nothing"],
)
def test_settings_that_do_not_fit(run, folder, secured, tmp_path, authority, name, words):
    options = {} if authority is None else settings(folder, authority, name)
    started = time.monotonic()
    with dask.config.set(options):
        outcome = run(*command(folder, tmp_path / "out", "--dask", secured, "--dask-timeout", "3"))
    assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome.err
    assert outcome.err.startswith(f"probtruth: got --dask {secured} (")
    assert words in outcome.err
    assert time.monotonic() - started < 30
    assert not (tmp_path / "out").exists()


def test_plain_words_to_a_port_that_wants_tls(run, folder, secured, tmp_path):
    plain = secured.replace("tls://", "tcp://")
    outcome = run(*command(folder, tmp_path / "out", "--dask", plain, "--dask-timeout", "3"))
    assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome.err
    assert outcome.err.startswith(f"probtruth: got --dask {plain} (")
    assert "tls://" in outcome.err
    with dask.config.set(settings(folder, "ours", "mine")):  # which require encryption
        outcome = run(*command(folder, tmp_path / "out", "--dask", plain, "--dask-timeout", "3"))
    assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome.err
    assert "encryption" in outcome.err


def test_tls_to_a_port_that_speaks_plainly(run, folder, tmp_path):
    with ExitStack() as stack:
        known = address(stack, folder, "tcp").replace("tcp://", "tls://")
        with dask.config.set(settings(folder, "ours", "mine")):
            outcome = run(*command(folder, tmp_path / "out", "--dask", known, "--dask-timeout", "3"))
    assert (outcome.status, outcome.err.count("\n")) == (2, 1), outcome.err
    assert f"got --dask {known} (what is there does not answer as a scheduler that speaks TLS does)" in outcome.err
