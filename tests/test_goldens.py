"""Every output byte of every command as it was: see tests/regression and tools/goldens.py."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from regression import canonical, cases_demos, comparing, running
from regression.cases import CASES, LINES, SLOW, Runner
from regression.comparing import Added, Dropped, Near, Rewritten, differences


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as each:
        yield each


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES]
)
def test_what_a_case_leaves_is_its_golden(name: str, runner: Runner) -> None:
    if reason := runner.absent(name):
        pytest.skip(reason)

    found = (
        runner.check(name) if name not in cases_demos.READ_DOCUMENTATION else _in_a_process(name)
    )

    assert not found, "\n".join(found[:80]).encode("utf-8", "backslashreplace").decode()


def _in_a_process(name: str) -> list[str]:
    """What differs in a process of its own: others' tests import modules, and their texts become
    part of the demo.
    """
    command = [
        sys.executable,
        str(Path(__file__).parent.parent / "tools/goldens.py"),
        "check",
        f"^{name}$",
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="backslashreplace")
    return [] if done.returncode == 0 else [done.stdout, done.stderr]


def test_every_golden_belongs_to_a_case() -> None:
    found = {
        path.relative_to(comparing.GOLDENS).as_posix()
        for path in comparing.GOLDENS.rglob("*.golden")
    }

    assert found <= {f"{name}{suffix}.golden" for name in CASES for suffix in ("", ".anew")}


def test_no_golden_holds_an_internal_error() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in comparing.GOLDENS.rglob("*.golden")}

    assert [
        path.name
        for path, text in texts.items()
        if "\nexit 3\n" in text or "\ninternal error\n" in text
    ] == []


def _commands() -> list[tuple[str, ...]]:
    _, out, _ = running.in_process(["--help"])
    return [
        tuple(words.split()) for words in re.findall(r"│ ([a-z][a-z-]*(?: [a-z-]+)?) {2,}", out)
    ]


WITHOUT_GOLDENS = {
    ("clips", "calibrate"): "needs a model",
    (
        "engines",
    ): "has the versions of installed packages; tests/engines/test_conformance.py runs it",
    (
        "demo",
        "retrieve",
    ): "has times of a worker process; tests/tasks/retrieve/test_demo_retrieve.py runs it",
    (
        "completion",
    ): "is the text of a library; tests/commands/test_completion.py runs it in the shells",
}
WITHOUT_DAILY_GOLDENS = {
    ("demo", "agree"): "encodes the whole standard library, which takes most of a minute"
}
DAILY = {name: text for name, text in LINES.items() if name not in SLOW}
OPTIONS_WITHOUT_GOLDENS = {
    "--encoder",
    "--text-encoder",
    "--keyword-threshold",
    "--device",
    "--weights",
    "--output-name",
    "--size",
    "--mean",
    "--std",
    "--channels",
    "--longest",
    "--browser",
    "--help",
    "--quiet",
    "--threads",
    "--workers",
    "--processes",
}


@pytest.mark.parametrize("words", _commands(), ids="-".join)
def test_every_command_has_goldens_and_every_option_stands_in_one(words: tuple[str, ...]) -> None:
    if words in WITHOUT_GOLDENS:
        return
    lines = [
        line
        for text in LINES.values()
        for line in text.split("\n")
        if f"{line} ".startswith(f"{' '.join(words)} ")
    ]
    assert lines, f"no golden of `{' '.join(words)}`"
    daily = any(
        f"{line} ".startswith(f"{' '.join(words)} ")
        for text in DAILY.values()
        for line in text.split("\n")
    )
    assert daily or words in WITHOUT_DAILY_GOLDENS, (
        f"no golden of `{' '.join(words)}` runs every day"
    )
    if words == ("trec-eval",):
        return
    code, out, _ = running.in_process([*words, "--help"])
    assert code == 0
    said = " ".join(lines)
    for row in re.findall(r"^│ (--?[^│]*?) {2}", out, re.MULTILINE):
        names = [name for name in row.split() if name.startswith("-")]
        if not set(names) & OPTIONS_WITHOUT_GOLDENS:
            assert any(re.search(rf"(^| ){name}( |$|=)", said) for name in names), (
                f"no golden of `{' '.join(words)}` has {row}"
            )


def test_every_convention_stands_in_a_golden() -> None:
    _, _, err = running.in_process(["evaluate", "x", "y", "-c", "nonsense"])
    said = "\n".join(DAILY.values())
    for name in re.split(r", ", err.split("known are ")[1].rstrip(".\n")):
        assert re.search(rf"-c {re.escape(name)}( |$)", said, re.MULTILINE), (
            f"no golden has -c {name}"
        )


# ---- the comparison itself
# ------------------------------------------------------------------------------------------------

GOLDEN = {
    "1 stdout": ["AP 0.7500", "p: 0.0123456789012345"],
    "file out/x.csv": ["counted: 3", "mean: exact 00 near 11"],
}


def _found(part: str, *lines: str) -> comparing.Parts:
    return {**GOLDEN, part: list(lines)}


def _said(found: comparing.Parts, *permitted: comparing.Change, exact: bool = True) -> list[str]:
    return differences("some/case", GOLDEN, found, permitted, exact=exact)


def test_a_changed_digit_a_new_part_and_a_missing_part_are_named() -> None:
    assert _said(GOLDEN) == []
    assert "+AP 0.7501" in _said(_found("1 stdout", "AP 0.7501", "p: 0.0123456789012345"))
    assert _said({**GOLDEN, "file out/y": []}) == ["part 'file out/y' is new"]
    assert _said({"1 stdout": GOLDEN["1 stdout"]}) == ["part 'file out/x.csv' is missing"]


def test_last_bits_matter_where_the_goldens_were_written_and_nowhere_else() -> None:
    near = _found("1 stdout", "AP 0.7500", "p: 0.0123456789012349")
    far = _found("1 stdout", "AP 0.7500", "p: 0.0123456799012345")

    assert _said(near)
    assert _said(far)
    assert not _said(near, exact=False)
    assert _said(far, exact=False)
    assert _said(_found("1 stdout", "AP 0.7501", "p: 0.0123456789012345"), exact=False)


def test_of_two_digests_the_one_of_rounded_numbers_counts_elsewhere() -> None:
    one, two, other = (
        ["v: exact 0123456789abcde" + last + " near " + near * 16]
        for last, near in (("0", "a"), ("1", "a"), ("1", "b"))
    )

    assert differences("c", {"p": one}, {"p": two}, (), exact=True)
    assert not differences("c", {"p": one}, {"p": two}, (), exact=False)
    assert differences("c", {"p": one}, {"p": other}, (), exact=False)


def test_elsewhere_the_last_digits_of_a_value_may_be_more_or_fewer() -> None:
    one, longer, fewer = (
        [f"v: {length} characters exact {digest * 16} near {near * 16}"]
        for length, digest, near in (("311", "0", "a"), ("321", "1", "a"), ("311", "1", "b"))
    )

    assert differences("c", {"p": one}, {"p": longer}, (), exact=True)
    assert not differences("c", {"p": one}, {"p": longer}, (), exact=False)
    assert differences("c", {"p": one}, {"p": fewer}, (), exact=False)
    known = ["v: 311 characters is " + "0" * 16]
    assert differences(
        "c", {"p": known}, {"p": ["v: 312 characters is " + "0" * 16]}, (), exact=False
    ), "no value: every character counts"


def test_permitted_changes_touch_what_they_name_and_nothing_else() -> None:
    renamed = Rewritten(reason="", parts="csv$", pattern="^counted:", by="queries_counted:")
    found = _found("file out/x.csv", "queries_counted: 3", "mean: exact 00 near 11")
    assert not _said(found, renamed)
    assert not _said(GOLDEN, renamed), "what did not change needs no permission"
    assert _said(
        found, Rewritten(reason="", cases="other", pattern="^counted:", by="queries_counted:")
    )

    near = Near(reason="", lines="^p:")
    assert not _said(_found("1 stdout", "AP 0.7500", "p: 0.0123456789012349"), near)
    assert _said(_found("1 stdout", "AP 0.7501", "p: 0.0123456789012345"), near)

    assert not _said(
        _found("1 stdout", *GOLDEN["1 stdout"], "new: 1"), Added(reason="", lines="^new:")
    )
    assert not _said(_found("1 stdout", "AP 0.7500"), Dropped(reason="", lines="^p:"))


def test_goldens_are_read_as_they_were_written(tmp_path: Path) -> None:
    parts = {"1 stdout": ["", "ä\udcff", " spaces ", "\t"], "empty": [], "file x": ["", ""]}
    comparing.write(tmp_path / "a.golden", parts)

    assert comparing.read(tmp_path / "a.golden") == parts


def test_json_is_known_by_its_values_its_order_and_its_layout() -> None:
    plain = canonical.of_json('{"a": 1, "b": [0.5, null], "c": [{"x": 1}, {"x": 2.0}]}')

    assert plain is not None
    assert plain[:3] == [("a", "1"), ("b", "[0.5, null]"), ("c.x", "[1, 2.0]")]
    for other in (
        '{"b": [0.5, null], "a": 1, "c": [{"x": 1}, {"x": 2.0}]}',
        '{"a": 1.0, "b": [0.5, null], "c": [{"x": 1}, {"x": 2.0}]}',
        '{"a":1, "b": [0.5, null], "c": [{"x": 1}, {"x": 2.0}]}',
    ):
        assert canonical.of_json(other) != plain


def test_digests_of_rounded_numbers_outlive_the_last_bit_and_see_the_ninth_digit() -> None:
    assert canonical.rounded("0.1234567890123") == canonical.rounded("0.1234567890124")
    assert canonical.rounded("0.123456789") != canonical.rounded("0.123456781")
    assert canonical.digest("12").startswith("is ")
    assert canonical.digest("1.25") != canonical.digest("1.250000001")
