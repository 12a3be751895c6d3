"""What is an address, what it shows of itself, and which options and variables a store is read with."""

from pathlib import Path

import pytest

from probtruth.errors import InputError
from probtruth.io.addresses import location, matching, named, shown, with_column
from probtruth.io.table import opened
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
