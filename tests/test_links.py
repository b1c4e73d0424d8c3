"""Links between pages: the repository has no dead one, and each kind of dead link is reported by
page and line.
"""

from pathlib import Path

import pytest

import links


def report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, list[str]]:
    monkeypatch.setattr("sys.argv", ["links.py", *words])
    code = links.main()
    return code, capsys.readouterr().out.splitlines()


def test_the_repository_has_no_dead_link(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert report(monkeypatch, capsys) == (0, [])


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("[x](other.md)", "other.md: there is no such file"),
        ("[x](there.md#nowhere)", "there.md#nowhere: there.md has no heading of that name"),
        ("[x](/there.md)", "/there.md: an absolute place; write it relative to this page"),
        ("![x](missing.png)", "missing.png: there is no such file"),
        ("[x](gallery/captions.html)", "gallery/captions.html: there is no such file"),
    ],
)
def test_a_dead_link_is_reported_with_page_and_line(
    link: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    (tmp_path / "there.md").write_text("# Here\n")
    (tmp_path / "README.md").write_text(
        f"# A\n\n[good](there.md#here) [good](gallery/qa.html) `[code](none.md)`\n{link}\n"
    )

    assert report(monkeypatch, capsys, str(tmp_path)) == (1, [f"README.md:4: {reason}"])


def test_external_links_are_listed_with_their_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("[x](https://example.org/y)\n")

    assert report(monkeypatch, capsys, str(tmp_path), "--external") == (
        0,
        ["https://example.org/y  a.md, b.md"],
    )
