"""Every output byte of every command as it was: see tests/regression and tools/goldens.py."""

import re
from collections.abc import Iterator

import pytest

from regression import comparing, running
from regression.cases import CASES, LINES, Runner


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as each:
        yield each


@pytest.mark.parametrize("name", CASES)
def test_what_a_case_leaves_is_its_golden(name: str, runner: Runner) -> None:
    if reason := runner.absent(name):
        pytest.skip(reason)

    found = runner.check(name)

    assert not found, "\n".join(found[:80])


def test_every_golden_belongs_to_a_case() -> None:
    found = {path.relative_to(comparing.GOLDENS).as_posix() for path in comparing.GOLDENS.rglob("*.golden")}

    assert found <= {f"{name}{suffix}.golden" for name in CASES for suffix in ("", ".anew")}


def _commands() -> list[tuple[str, ...]]:
    _, out, _ = running.in_process(["--help"])
    return [tuple(words.split()) for words in re.findall(r"│ ([a-z][a-z-]*(?: [a-z-]+)?) {2,}", out)]


WITHOUT_GOLDENS = {
    ("clips", "calibrate"): "needs a model",
}
OPTIONS_WITHOUT_GOLDENS = {
    "--encoder", "--text-encoder", "--keyword-threshold", "--device", "--weights", "--output-name", "--size", "--mean", "--std",
    "--channels", "--longest", "--browser", "--help", "--workers", "--processes",
}  # fmt: skip


@pytest.mark.parametrize("words", _commands(), ids="-".join)
def test_every_command_has_goldens_and_every_option_stands_in_one(words: tuple[str, ...]) -> None:
    if words in WITHOUT_GOLDENS:
        return
    lines = [line for text in LINES.values() for line in text.split("\n") if f"{line} ".startswith(f"{' '.join(words)} ")]
    assert lines, f"no golden of `{' '.join(words)}`"
    if words == ("trec-eval",):
        return
    code, out, _ = running.in_process([*words, "--help"])
    assert code == 0
    said = " ".join(lines)
    for row in re.findall(r"^│ (--?[^│]*?) {2}", out, re.MULTILINE):
        names = [name for name in row.split() if name.startswith("-")]
        if not set(names) & OPTIONS_WITHOUT_GOLDENS:
            assert any(re.search(rf"(^| ){name}( |$|=)", said) for name in names), f"no golden of `{' '.join(words)}` has {row}"


def test_every_convention_and_measure_stands_in_a_golden() -> None:
    _, _, err = running.in_process(["evaluate", "x", "y", "-c", "nonsense"])
    said = "\n".join(LINES.values())
    for name in re.split(r", ", err.split("known are ")[1].rstrip(".\n")):
        assert re.search(rf"-c {re.escape(name)}( |$)", said, re.MULTILINE), name
    _, out, _ = running.in_process(["measures", "-f", "jsonl"])
