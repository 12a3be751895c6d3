"""What is an address, what it shows of itself, and which options and variables a store is read with."""

import os
from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io import addresses
from probtruth.io.addresses import Address, StoreOptions, location, matching, named, with_column
from probtruth.io.tables.read import read_table, shown
from probtruth.redaction import redacted

KEY = {"aws_access_key_id": "AKID", "aws_secret_access_key": "SECRET"}


class TestLocation:
    @pytest.mark.parametrize(
        ("text", "form"),
        [
            ("s3://bucket/a.parquet", "parquet"),
            ("S3://bucket/a.PARQUET", "parquet"),
            ("gs://bucket/a.arrow", "arrow"),
            ("az://container/a.csv", "text"),
            ("hf://datasets/me/set/a.jsonl", "text"),
            ("https://host/a.parquet?X-Signature=x.y", "parquet"),
            ("http://localhost:80/a.csv", "text"),
            ("http://[::1]:80/a.csv", "text"),
            ("s3://bucket/folder/", "folder"),
            ("s3://bucket/folder", "folder"),
            ("s3://bucket/v1.2/", "folder"),
            ("s3://bucket/part-?.parquet", "parquet"),
            ("s3://bucket/t/metadata/v1.metadata.json", "iceberg"),
            ("s3://bucket/a.zip", "other"),
        ],
    )
    def test_an_address(self, text: str, form: str) -> None:
        where = location(text)
        assert isinstance(where, Address)
        assert where.form == form
        assert where.url.partition(":")[0] == text.partition(":")[0].lower()

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
            ("http://example.org/a.csv", "Without TLS"),
            ("http://localhost.example.org/a.csv", "Without TLS"),
            ("http://localhost@example.org/a.csv", "Without TLS"),
            ("https://host/folder/", "Web servers list nothing"),
            ("https://host/*.parquet", "Web servers list nothing"),
            ("s3://bucket/*", "a pattern without an extension"),
            ("s3://bucket/a b.csv", "a blank in it"),
            (Path("s3://bucket/a.csv"), "Pass it as text"),
        ],
    )
    def test_refused(self, path: str | Path, message: str) -> None:
        with pytest.raises(InputError, match=message):
            location(path)

    def test_a_delta_table_is_known_by_its_log(self, tmp_path: Path) -> None:
        (tmp_path / "_delta_log").mkdir()
        assert location(tmp_path) == Address(str(tmp_path), "delta")


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
        words += [
            str(InputError(text, text, text, text)),
            str(Address(text, "parquet")),
            repr(Address(text, "parquet")),
        ]
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
        ],
    )
    def test_with_column(self, spec: str, pair: tuple[str, str]) -> None:
        assert with_column(spec) == pair


class TestPatterns:
    def test_files_in_order(self, tmp_path: Path) -> None:
        for name in ("b.csv", "a.csv", "[c].csv"):
            (tmp_path / name).write_text("item,n\n1,2\n")
        assert matching(tmp_path / "[ab].csv") == [tmp_path / "a.csv", tmp_path / "b.csv"]
        assert matching(tmp_path / "[c].csv") is None  # there is such a file
        frame, source = read_table(tmp_path / "?.csv")
        assert frame.height == 2
        assert source.at(1, "n") == f"{tmp_path / 'b.csv'}, line 2, column 'n'"

    def test_nothing_matches(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="a pattern that matches no file"):
            read_table(tmp_path / "*.csv")

    def test_other_columns(self, tmp_path: Path) -> None:
        (tmp_path / "a.csv").write_text("item,n\n1,2\n")
        (tmp_path / "b.csv").write_text("item,m\n1,2\n")
        with pytest.raises(InputError, match=r"b\.csv: got the columns 'item', 'm', expected those of .*a\.csv"):
            read_table(tmp_path / "*.csv")


class TestStoreOptions:
    def test_harmless_ones_go_with_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "SECRET")
        options = StoreOptions.of({"aws_region": "eu-west-1", "max_retries": 1, "skip_signature": True}, "t")
        assert options.values == {"aws_region": "eu-west-1", "max_retries": 1, "skip_signature": "true"}
        assert options.environment()["AWS_SECRET_ACCESS_KEY"] == "SECRET"
        assert "aws_region = eu-west-1" in options.words()

    @pytest.mark.parametrize(
        "table",
        [
            {"aws_endpoint_url": "http://elsewhere"},
            {"aws_region": "x@elsewhere/"},  # a part of a host's name
            {"proxy_url": "http://elsewhere"},
        ],
    )
    def test_no_key_of_the_environment_goes_where_a_file_says(
        self, table: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(InputError, match="A key from the environment never goes where a file of settings says"):
            StoreOptions.of(table, "probtruth.toml")
        monkeypatch.setenv("AWS_SESSION_TOKEN", "SECRET")
        options = StoreOptions.of({**table, **KEY}, "probtruth.toml")
        environment = options.environment()
        assert environment["AWS_SESSION_TOKEN"] is None
        assert environment["HOME"] == os.devnull
        assert "AKID" not in options.words() + repr(options)
        assert "SECRET" not in options.words() + repr(options)

    @pytest.mark.parametrize("table", [7, {"aws_region": ["x"]}])
    def test_no_table_of_text(self, table: object) -> None:
        with pytest.raises(InputError):
            StoreOptions.of(table, "probtruth.toml")


def test_outputs_are_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from probtruth.io.output.folder import check_out

    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="got an address, expected a local path"):
        check_out("s3://bucket/out")
    with pytest.raises(InputError):
        addresses.refuse("https://host/out")
    assert not list(tmp_path.iterdir())
