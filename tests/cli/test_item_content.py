"""What the items are, in the report: embedded only if asked for, escaped, and refused before long work."""

import base64
import html

import pytest

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
TEXT = "</script><script>alert(1)</script>"


@pytest.fixture
def content(files, tmp_path):
    """A table of all items: a hostile text, and the path of an image of one pixel."""
    (tmp_path / "one.png").write_bytes(base64.b64decode(PNG))
    rows = [f'i{number},"{TEXT} {number}",one.png' for number in range(24)]
    (tmp_path / "what.csv").write_text("item,text,image\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "what.csv"


def report(folder) -> str:
    return (folder / "report.html").read_text("utf-8")


@pytest.mark.long
def test_run_embeds_texts_and_images_if_asked(run, files, models, content, tmp_path):
    words = ["run", "--annotations", files["labels"], "--engine", "exact", "--out"]
    assert run(*words, tmp_path / "texts", *models, "--show", f"{content}:text").status == 0
    page = report(tmp_path / "texts")
    assert f"{TEXT} 3" in html.unescape(page)
    assert "alert(1)</script>" not in page
    assert run(*words, tmp_path / "images", *models, "--show", f"{content}:image").status == 0
    page = report(tmp_path / "images")
    assert f"data:image/png;base64,{PNG}" in page
    assert "img-src data:;" in page
    assert run(*words, tmp_path / "without", *models).status == 0
    page = report(tmp_path / "without")
    assert "alert(1)" not in page
    assert "data:image/png" not in page
    assert "img-src" not in page


def test_a_column_that_is_not_there_is_known_at_once(run, files, content, tmp_path):
    done = run("compare", files["scores"], "--lower-is-better", "--show", f"{content}:words", "--out", tmp_path / "out")
    assert done.status == 2
    assert "no column 'words'" in done.err
    assert not (tmp_path / "out").exists()
