"""The compiled reader of lists: the first items of every query, some queries at a time, as the
plain reader gives them.
"""

import random
from pathlib import Path

import pytest

from fuzzing import compiled_lines as lines
from fuzzing import compiled_lists
from rankwell._native import native
from rankwell.io.formats import FORMATS, Request
from rankwell.io.reader import Irregular, ListScan
from rankwell.io.reader.lines import TREC_RUN, ReadOptions
from rankwell.store import Source

pytestmark = pytest.mark.skipif(
    native.library is None, reason="the compiled kernel is not there: no compiler at installation"
)


@pytest.mark.parametrize("seed", sorted(lines.SEEDS.glob("*.run")), ids=lambda path: path.stem)
def test_lists_are_those_of_the_plain_reader_in_files_that_once_differed(
    seed: Path, tmp_path: Path
):
    assert compiled_lists.agree(seed.read_bytes(), tmp_path / "input")


def test_lists_are_those_of_the_plain_reader_in_drawn_files(tmp_path: Path):
    rng, read = random.Random(23), 0
    for _ in range(150):
        content = lines.mutated(rng, lines.made(rng), lines.made(rng))
        assert compiled_lists.agree(content, tmp_path / "input"), content
        read += compiled_lists.lists_of(content, tmp_path / "input") != compiled_lists.IRREGULAR
    assert read > 20


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "1 Q0 a 1 2 x\n2 Q0 a 1 2 x\n1 Q0 b 1 1 x\n",
        "1 Q0 a 1 2 x\n1 Q0 a 2 1 x\n",
        "1 Q0 a\n",
    ],
)
def test_a_run_that_must_be_read_another_way_is_left_to_it(text: str, tmp_path: Path):
    path = tmp_path / "mine.run"
    path.write_text(text)

    with pytest.raises(Irregular):
        list(ListScan([], TREC_RUN, ReadOptions(keep=1)).read(Source(path)))


def test_a_query_in_two_files_is_left_to_another_way(tmp_path: Path):
    for name in "ab":
        (tmp_path / name).write_text(f"1 Q0 {name} 1 1.0 x\n")
    sources, read = [Source(tmp_path / name) for name in "ab"], FORMATS["trec run"].lists
    assert read is not None

    with pytest.raises(Irregular):
        list(read(sources, [], Request(keep=1)))


def test_a_worker_of_lists_refuses_what_it_cannot_take():
    none = native.library.reader_table((), [], bytes(8))
    judged = native.library.reader_table(("1",), ["a"], b"\0" * 8 + b"\1" + b"\0" * 7)
    form, how = (6, 0, 2, 4, False), (0, False, False, False)

    for table, keep in ((none, 0), (judged, 1)):
        with pytest.raises(ValueError, match="no such field, rule or pass"):
            native.library.reader_worker(table, form, how, keep, 5)
    worker = native.library.reader_worker(none, form, how, 1, 5)
    with pytest.raises(ValueError, match="named twice"):
        native.library.reader_items(worker, ["a", "a"])
    assert native.library.reader_lists(worker, 0) is None
    with pytest.raises(ValueError, match="do not belong together"):
        native.library.reader_absorb(worker, native.library.reader_worker(none, form, how, 1, 5))
