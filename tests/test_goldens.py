"""What each command prints and writes, whole: see tests/regression and tools/goldens.py."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankwell.data.catalogue import DROP_IN, command_function, command_summaries
from rankwell.data.options import arguments_of
from regression import comparing, figures, readable, running
from regression.cases import CASES, LINES, Runner
from regression.comparing import differences

GOLDENS = comparing.names()
DIGEST = re.compile(r"(?<![\w.])(?=\d*[a-f])[0-9a-f]{16}")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as each:
        yield each


@pytest.mark.parametrize("name", GOLDENS)
def test_what_a_case_leaves_is_its_golden(name: str, runner: Runner) -> None:
    if reason := runner.absent(name):
        pytest.skip(reason)

    found = runner.check(name)

    assert not found, "\n".join(found[:80]).encode("utf-8", "backslashreplace").decode()


def test_every_case_has_a_golden_or_figures_and_every_golden_a_case() -> None:
    assert set(CASES) == set(GOLDENS) | set(figures.read())


def test_no_golden_holds_an_internal_error_or_a_digest() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in comparing.GOLDENS.rglob("*.golden")}

    assert [
        path.name
        for path, text in texts.items()
        if "\nexit 3\n" in text or "Traceback" in text or DIGEST.search(text)
    ] == []


def _commands() -> list[tuple[str, ...]]:
    return [*command_summaries(), (DROP_IN,)]


WITHOUT_CASES = {
    ("keywords", "calibrate"): "needs a model",
    (
        "engine",
        "list",
    ): "has the versions of installed packages; tests/engines/test_conformance.py runs it",
    ("completion",): "is the text of a library; tests/cli/test_completion.py runs it in the shells",
}
OPTIONS_WITHOUT_CASES = {
    # The look of tables: tests/reporting/test_latex.py and test_paper.py, and a case of evaluate,
    # compare and bench.
    "--digits",
    "--caption",
    "--label",
    "--underline-second",
    "--encoder",
    "--text-encoder",
    "--keyword-threshold",
    "--device",
    "--open",
    "--help",
    "--quiet",
    "--verbose",
    "--threads",
}


@pytest.mark.parametrize("words", _commands(), ids="-".join)
def test_every_command_has_a_golden_and_every_option_stands_in_a_case(
    words: tuple[str, ...],
) -> None:
    if words in WITHOUT_CASES or words[0] == "demo":  # tests of tasks run the demos
        return
    lines = {
        name: [line for line in text.split("\n") if f"{line} ".startswith(f"{' '.join(words)} ")]
        for name, text in LINES.items()
    }
    assert any(lines[name] for name in GOLDENS if name in lines), f"no golden of {' '.join(words)}"
    if words == ("trec-eval",):
        return
    said = " ".join(line for each in lines.values() for line in each)
    for argument in arguments_of(command_function(words)):
        if argument.flags and not {*argument.flags} & OPTIONS_WITHOUT_CASES:
            assert any(re.search(rf"(^| ){name}( |$|=)", said) for name in argument.words), (
                f"no case of `{' '.join(words)}` has {argument.flags[0]}"
            )


def test_every_convention_stands_in_a_golden() -> None:
    _, _, err = running.in_process(["evaluate", "x", "y", "-c", "nonsense"])
    said = "\n".join(LINES[name] for name in GOLDENS if name in LINES)
    for name in re.split(r", ", err.split("known are ")[1].split(". ")[0]):
        assert re.search(rf"(-c|--convention) {re.escape(name)}( |$)", said, re.MULTILINE), (
            f"no golden has -c {name}"
        )


# ---- the comparison itself
# ------------------------------------------------------------------------------------------------

GOLDEN = {"1 stdout": ["AP 0.7500", "p: 0.0123456789012345"], "file out/x.csv": ["counted: 3"]}


def _said(found: comparing.Parts, *, exact: bool = True) -> list[str]:
    return differences(GOLDEN, found, exact=exact)


def test_a_changed_digit_a_new_part_and_a_missing_part_are_named() -> None:
    assert _said(GOLDEN) == []
    assert "+AP 0.7501" in _said(GOLDEN | {"1 stdout": ["AP 0.7501", "p: 0.0123456789012345"]})
    assert _said({**GOLDEN, "file out/y": []}) == ["part 'file out/y' is new"]
    assert _said({"1 stdout": GOLDEN["1 stdout"]}) == ["part 'file out/x.csv' is missing"]


def test_last_bits_matter_where_the_goldens_were_written_and_nowhere_else() -> None:
    near = GOLDEN | {"1 stdout": ["AP 0.7500", "p: 0.0123456789012349"]}
    far = GOLDEN | {"1 stdout": ["AP 0.7500", "p: 0.0123456799012345"]}

    assert _said(near)
    assert _said(far)
    assert not _said(near, exact=False)
    assert _said(far, exact=False)
    assert _said(GOLDEN | {"file out/x.csv": ["counted: 4"]}, exact=False)


def test_goldens_are_read_as_they_were_written(tmp_path: Path) -> None:
    parts = {"1 stdout": ["", "ä\udcff", " spaces ", "\t"], "empty": [], "file x": ["", ""]}
    comparing.write(tmp_path / "a.golden", parts)

    assert comparing.read(tmp_path / "a.golden") == parts


def test_a_file_is_shown_whole_where_it_is_short_and_without_what_varies(tmp_path: Path) -> None:
    (tmp_path / "short.json").write_text('{"seconds": 0.25, "n": 3}\n')
    (tmp_path / "long.csv").write_text("query,value\n" + "q1,0.5\n" * 2_000)
    (tmp_path / "page.html").write_text("<title>A page</title>")

    shown = {
        name: readable.of_file(tmp_path / name, lambda text: text)
        for name in ("short.json", "long.csv", "page.html")
    }

    assert shown == {
        "short.json": ['{"seconds": "<varies>", "n": 3}', ""],
        "long.csv": ["2002 lines"],
        "page.html": [],
    }
