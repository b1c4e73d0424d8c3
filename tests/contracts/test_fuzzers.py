"""The contract of fuzzers: every reader of a registry has one, and its valid files are read as the
plain parser reads them.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from fuzz import FINDINGS, tried
from fuzzing import KINDS, Fuzzer, Refused, Undecided, load
from registries import REGISTRIES

READERS = [f"{kind}: {name}" for kind in KINDS for name in REGISTRIES[kind]]
FUZZERS = load()
CHECKED = [
    *(name for name in READERS if name in FUZZERS),
    *(name for name in FUZZERS if name.startswith("rag: ")),
]


@pytest.mark.parametrize("name", READERS)
def test_a_reader_has_a_fuzzer(name: str):
    assert name in FUZZERS, (
        f"{name} has no fuzzer: write what makes a small valid file of it, in tests/fuzz/fuzzing/"
    )


@pytest.mark.parametrize("name", CHECKED)
def test_a_valid_file_is_read_as_the_plain_parser_reads_it(
    name: str, fuzzer_of: Callable[[str], Fuzzer], tmp_path: Path
):
    fuzzer = fuzzer_of(name)
    thing = fuzzer.write(Random(3), tmp_path)

    table = fuzzer.read(thing)

    if fuzzer.plain is None:
        return
    try:
        assert table == fuzzer.plain(thing)
    except (Refused, Undecided) as error:
        pytest.fail(f"the plain parser does not take what it writes: {error!r}")


@pytest.mark.parametrize("name", CHECKED)
def test_changed_files_are_read_right_or_refused(
    name: str, fuzzer_of: Callable[[str], Fuzzer], tmp_path: Path
):
    fuzzer_of(name)
    outcomes = dict[int, tuple[str, str]]()
    for number in range(6):
        folder = tmp_path / str(number)
        folder.mkdir()
        outcomes[number] = tried(name, number, 18, folder)

    assert {number: outcome for number, outcome in outcomes.items() if outcome[0] in FINDINGS} == {}


def test_changed_json_has_an_end():
    from fuzzing.mutations import change_json

    text = json.dumps({"a": [{"b": [1, 2, {"c": "x" * 3000}]}, [3, [4]]], "d": {"e": []}})

    assert all(change_json(Random(seed), text) for seed in range(300))


def test_the_process_of_other_libraries_ends_and_leaves_no_file_open(tmp_path: Path):
    (tmp_path / "a.npy").write_bytes(b"not an array")
    code = (
        "from pathlib import Path; from fuzzing import Refused; from fuzzing.reference import ask\n"
    )
    code += "try:\n ask('numpy', Path('a.npy'))\nexcept Refused:\n print('refused')"
    fuzz_folder = str(Path(__file__).parents[1] / "fuzz")
    line = [sys.executable, "-W", "always::ResourceWarning", "-c", code]

    done = subprocess.run(
        line,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": fuzz_folder},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
    )

    assert (done.stdout, done.stderr) == ("refused\n", "")
