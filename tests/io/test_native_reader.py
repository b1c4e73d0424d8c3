"""The compiled reader of runs gives what the plain reader gives, to the last bit and the last word
of an error.
"""

import gzip
import io
import random
import struct
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzing import compiled_lines as fuzz_reader
from rankwell._native import native
from rankwell.data.rankings import Hits
from rankwell.data.tables import TIE_RULES, Judgments
from rankwell.errors import DuplicateItem, RankwellError
from rankwell.io import reader
from rankwell.io.reader import Scan, scan
from rankwell.io.reader import lines as plain
from rankwell.io.reader.lines import MSMARCO_RUN, TREC_RUN, Layout, ReadOptions
from rankwell.store import Source
from test_kernels import Memory, awkward, same_bytes, with_line

pytestmark = pytest.mark.skipif(
    native.library is None, reason="the compiled kernel is not there: no compiler at installation"
)


def same(one: Hits, other: Hits) -> bool:
    if not same_bytes(one, other) or (one.top is None) != (other.top is None):
        return False
    if one.top is None or other.top is None:
        return True
    tops = [
        (top.queries, top.offsets.tolist(), list(top.items), top.scores.tobytes())
        for top in (one.top, other.top)
    ]
    return tops[0] == tops[1]


def outcome(read: Any, *arguments: Any, **options: Any) -> Any:
    try:
        return read(*arguments, **options)
    except RankwellError as error:
        return type(error), str(error)


def scan_compiled(
    source: Source, judgments: Judgments, layout: Layout, options: ReadOptions, **others: Any
) -> Hits | None:
    return Scan(source, judgments, layout, options, **others).hits(judgments)


def compare(
    source: Source,
    truth: dict[str, dict[str, float]],
    layout: Layout,
    reading: ReadOptions,
    **options: Any,
) -> Any:
    """What the compiled reader made of the file, hits or an error: the same as the plain reader."""
    judgments = Judgments.from_dict(truth)
    found = outcome(scan_compiled, source, judgments, layout, reading, **options)
    wanted = outcome(plain.scan, source, judgments, layout, reading)
    assert (
        found == wanted
        if isinstance(found, tuple) or isinstance(wanted, tuple)
        else same(found, wanted)
    )
    return found


@settings(max_examples=250, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    size=st.sampled_from((64, 100, 257, 1024, 1 << 18)),
    ties=st.sampled_from(TIE_RULES),
    single=st.booleans(),
    keep=st.sampled_from((0, 1, 5, 100)),
)
def test_any_file_gives_what_the_plain_reader_gives(
    seed: int, size: int, ties: Any, single: bool, keep: int
):
    content, truth = awkward(seed)

    assert isinstance(
        compare(Memory(content), truth, TREC_RUN, ReadOptions(ties, single, keep), block_size=size),
        Hits,
    )


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10**9),
    size=st.sampled_from((64, 257, 1 << 18)),
    order=st.permutations(range(6)),
    keep=st.sampled_from((0, 5)),
)
def test_columns_in_any_order_give_what_the_plain_reader_gives(
    seed: int, size: int, order: list[int], keep: int
):
    content, truth = awkward(seed)
    rows = (line.split() for line in content.split(b"\n") if line.strip())
    turned = b"".join(b" ".join([fields[place] for place in order]) + b"\n" for fields in rows)
    layout = Layout("run", "six columns", 6, *(order.index(place) for place in (0, 2, 4)))

    hits = compare(Memory(turned), truth, layout, ReadOptions(keep=keep), block_size=size)

    assert isinstance(hits, Hits)
    assert same(
        hits, scan(Memory(content), Judgments.from_dict(truth), TREC_RUN, ReadOptions(keep=keep))
    )


def shuffled_or_not(seed: int) -> tuple[bytes, dict[str, dict[str, float]]]:
    """A run large enough for several parts, with many judged items, ties of all sizes and unknown
    queries.
    """
    rng = random.Random(seed)
    lines, truth = [], {}
    for number in range(120):
        name, levels = f"q{number:0{seed % 2 * 9 + 1}d}", rng.choice((1, 3, 40, 10**6))
        items = rng.sample(range(3000), rng.choice((1, 30, 400)))
        lines += [f"{name} Q0 d{item} 1 {rng.randrange(levels) / 8} tag" for item in items]
        if rng.random() < 0.8:
            judged = rng.sample(items, rng.choice((0, 1, min(len(items), 3), len(items))))
            truth[name] = dict.fromkeys([f"d{item}" for item in judged], 1.0) | {"never": 1.0}
    if seed % 3 == 0:
        rng.shuffle(lines)
    return "\n".join(lines).encode() + b"\n", truth


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
@pytest.mark.parametrize("ties", ["id-desc", "id-asc", "input"])
def test_parts_and_threads_do_not_change_a_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int, ties: Any
):
    content, truth = shuffled_or_not(seed)
    path = tmp_path / "run.txt"
    path.write_bytes(content)

    for part in (500, 20_000):
        monkeypatch.setattr(reader, "_PART", part)
        for threads in (1, 2, 5):
            for block in (200, 1 << 18):
                assert isinstance(
                    compare(
                        Source(path),
                        truth,
                        TREC_RUN,
                        ReadOptions(ties),
                        threads=threads,
                        block_size=block,
                    ),
                    Hits,
                )


def test_the_first_items_are_the_same_from_several_parts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(reader, "_PART", 3000)
    path = tmp_path / "run.txt"

    for seed, ties, keep in product((0, 1), ("id-desc", "id-asc", "input"), (1, 10, 1000)):
        content, truth = shuffled_or_not(seed)
        path.write_bytes(content)
        assert isinstance(
            compare(Source(path), truth, TREC_RUN, ReadOptions(ties, keep=keep), threads=3), Hits
        )


def test_a_query_that_is_too_large_for_a_block_is_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(reader, "LARGEST", 512)
    content = b"".join(b"1 Q0 d%d %d %d.5 t\n" % (n, n, 100 - n // 3) for n in range(90))

    assert isinstance(
        compare(
            Memory(content), {"1": {"d89": 1.0, "d0": 1.0}}, TREC_RUN, ReadOptions(), block_size=128
        ),
        Hits,
    )


WHITE = [
    b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n",
    b"1\tQ0\ta\t1\t2.5\tt\n1\tQ0\tb\t2\t1.5\tt\n",
    b"1 Q0 a\t1  2.5 \t t\r\n  1 Q0 b 2 1.5 t\r\n",
    b"1 Q0 a 1 2.5 t\r\n1 Q0 b 2 1.5 t\r\n2 Q0 b 2 1.5 t\r",
    b"\n\n1 Q0 a 1 2.5 t\n \t \n1 Q0 b 2 1.5 t",
    b"1\x0bQ0\x0ca 1 2.5 t \n1 Q0 b 2 1.5 t\x0c\n",
    b"1 Q0 a\x00\x01b 1 2.5 t\n1 Q0 \x1f 1 2 t\n",
    b"# made by x\n1 Q0 a 1 2.5 t\n  # more\n1 Q0 b#1 2 1.5 t\n#1 Q0 c 1 1 t\n",
    b"1 Q0 a 1 2.5 my run\n1 Q0 b 2 1.5 t\n",
    b"1 Q0 a 1 0.0 t\n1 Q0 b 2 -0.0 t\n1 Q0 c 3 -0 t\n",
    b"1 Q0 a 1 -.5e-3 t\n1 Q0 b 2 5.E2 t\n1 Q0 \xff\xfe 2 +5.E+02 t\n",
]


@pytest.mark.parametrize("content", WHITE)
@pytest.mark.parametrize("comments", [False, True])
@pytest.mark.parametrize("trailing", [False, True])
def test_white_space_comments_and_odd_bytes_are_read_alike(
    content: bytes, comments: bool, trailing: bool
):
    truth = {
        "1": {"b": 1.0, "a": 0.0, "b#1": 1.0, "\udcff\udcfe": 1.0, "a\x00\x01b": 1.0},
        "#1": {"c": 1.0},
    }

    found = compare(
        Memory(content), truth, TREC_RUN, ReadOptions(comments=comments, trailing=trailing)
    )

    refused = (b"my run" in content and not trailing) or (b"made by" in content and not comments)
    assert isinstance(found, tuple) == refused, found


@pytest.mark.parametrize(
    "bad",
    [
        b"5 0 d 1",
        b"5 Q0 d 1 2.5 t u",
        b"word",
        b"5 Q0 d 1 high t",
        b"5 Q0 d 1 nan t",
        b"5 Q0 d 1 -inf t",
        b"5 Q0 d 1 1e999 t",
        b"5 Q0 d 1 0x1p3 t",
        b"5 Q0 d 1 1_000 t",
        b"5 Q0 d 1 1.2.3 t",
        b"5 Q0 d 1 . t",
        b"5 Q0 d 1 1e t",
        b"5 Q0 d 1 1e+ t",
        b"5 Q0 d 1 -- t",
        b"5 Q0 d 1 1\x00 t",
        b"5 Q0 d40 1 2 t",
    ],
)
@pytest.mark.parametrize("query", ["5", "99"])
def test_mistakes_are_named_in_the_same_words(bad: bytes, query: str):
    for size in (64, 1 << 18):
        for late in (b"", b"4 Q0 z 1 1 t\n", b"8 Q0 d 1"):
            truth = {query: {"d1": 1.0}, "4": {"d40": 1.0}}

            found = compare(
                Memory(with_line(bad, 47) + late), truth, TREC_RUN, ReadOptions(), block_size=size
            )
            # The last case is a valid line; the line that follows it may not be.
            assert isinstance(found, tuple) == (bad != b"5 Q0 d40 1 2 t" or late == b"8 Q0 d 1"), (
                found
            )


@pytest.mark.parametrize("judged", [b"d41", b"d-new"])
def test_duplicates_are_found_in_order_and_out_of_it(judged: bytes):
    content = with_line(b"4 Q0 %s 9 1.0 t" % judged, 42).replace(
        b"4 Q0 d44 44", b"4 Q0 %s 44" % judged
    )
    truth = Judgments.from_dict({"4": {"d-new": 1.0}})

    for late in (b"", b"0 Q0 z 1 1.0 t\n4 Q0 z 1 1 t\n"):
        with pytest.raises(DuplicateItem, match="in lines 42 and 45;"):
            scan_compiled(Memory(content + late), truth, TREC_RUN, ReadOptions())


def test_what_is_in_a_query_twice_in_another_part_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    path = tmp_path / "run.txt"
    rows = [b"%d Q0 d%d 1 1.5 t\n" % (n % 7, n) for n in range(5000)]
    path.write_bytes(b"".join([*rows, b"3 Q0 d10 1 1.5 t\n"]))
    monkeypatch.setattr(reader, "_PART", 3000)

    with pytest.raises(DuplicateItem, match="in lines 11 and 5001;"):
        scan_compiled(
            Source(path), Judgments.from_dict({"3": {"x": 1.0}}), TREC_RUN, ReadOptions(), threads=3
        )


def test_two_items_of_one_hash_are_left_to_the_plain_reader(monkeypatch: pytest.MonkeyPatch):
    judgments = Judgments.from_dict({"1": {"b": 1.0}})
    # As if the second line had the hash of the first.
    places = iter((None, 30))
    monkeypatch.setattr(Scan, "_first_odd", lambda *_: next(places))
    monkeypatch.setattr(Scan, "_read_all", lambda *_: reader._check(-1))

    hits = scan(Memory(b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n"), judgments, TREC_RUN, ReadOptions())

    assert hits.above.tolist() == [1]


def test_a_line_longer_than_any_block_is_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reader, "LARGEST", 512)
    long = b"1 Q0 %s 1 1.5 t\n" % (b"d" * 3000)

    assert isinstance(
        compare(Memory(long), {"1": {"d" * 3000: 1.0}}, TREC_RUN, ReadOptions(), block_size=128),
        Hits,
    )
    assert isinstance(
        compare(Memory(long + b"word"), {"1": {"a": 1.0}}, TREC_RUN, ReadOptions(), block_size=128),
        tuple,
    )


def test_items_that_are_called_like_queries_are_not_duplicates():
    names = [b"%d" % n for n in range(300)]
    content = b"".join(b"%s Q0 %s 1 1.5 t\n" % (query, item) for item in names for query in names)

    truth = {"7": {"9": 1.0}} | {str(n): {"x": 1.0} for n in range(8, 300)}

    assert isinstance(compare(Memory(content), truth, TREC_RUN, ReadOptions()), Hits)


@pytest.mark.parametrize(
    "content",
    [b"1\tb\t2\n1\ta\t1\n2\ta\t0\n", b"1 b 2.0\n1 a 1e1\n", b"1\ta\t1\n1\tb\t2.5\n", b"1 a -1\n"],
)
def test_an_ms_marco_run_is_read_alike(content: bytes):
    found = compare(Memory(content), {"1": {"b": 1.0}}, MSMARCO_RUN, ReadOptions())

    assert isinstance(found, tuple) == any(wrong in content for wrong in (b"2.5", b"-1"))


@pytest.mark.parametrize("content", [b"", b"\n", b" \n\t\n", b"1", b"\r"])
def test_a_file_without_a_line_is_refused(content: bytes):
    assert isinstance(compare(Memory(content), {"1": {"a": 1}}, TREC_RUN, ReadOptions()), tuple)


def test_ids_that_no_file_can_hold_are_not_found():
    truth = {"1": {"a b": 1.0, "": 1.0, "x": 1.0}, "": {"x": 1.0}, "2 3": {"x": 1.0}}

    assert isinstance(
        compare(Memory(b"1 Q0 x 1 1.5 t\n1 Q0 a 1 1.5 t\n"), truth, TREC_RUN, ReadOptions()), Hits
    )


def test_compressed_files_and_standard_input_are_read_alike(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    zstandard = pytest.importorskip("zstandard")
    content, truth = shuffled_or_not(3)
    packed, packed_otherwise = tmp_path / "run.gz", tmp_path / "run.zst"
    packed.write_bytes(gzip.compress(content))
    packed_otherwise.write_bytes(zstandard.compress(content))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    for source in (Source(packed), Source(packed_otherwise), Source("-")):
        assert isinstance(compare(source, truth, TREC_RUN, ReadOptions()), Hits)


def test_a_file_that_changes_its_reader_in_between_gives_nothing_twice(tmp_path: Path):
    path = tmp_path / "run.txt"
    path.write_bytes(b"\xef\xbb\xbf1 Q0 a 1 2.5 t\n2 Q0 a 1 2.5 t\n1 Q0 b 1 2.5 t\n")

    assert isinstance(compare(Source(path), {"1": {"a": 1.0}}, TREC_RUN, ReadOptions()), Hits)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("scattered", [False, True])
def test_progress_reaches_the_size_of_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, threads: int, scattered: bool
):
    path = tmp_path / "run.txt"
    path.write_bytes(
        b"".join(
            b"%d Q0 d%d 1 1.5 t\n" % (n % 100 if scattered else n // 10, n) for n in range(3000)
        )
    )
    monkeypatch.setattr(reader, "_PART", 5000)
    told: list[tuple[int, int]] = []

    scan_compiled(
        Source(path),
        Judgments.from_dict({"1": {"d1": 1}}),
        TREC_RUN,
        ReadOptions(),
        block_size=100,
        threads=threads,
        progress=lambda *both: told.append(both),
    )

    size = path.stat().st_size
    assert told == sorted(set(told))
    assert told[-1] == (size, size)
    assert threads > 1 or len(told) > 5


def test_progress_of_a_compressed_file_shows_what_has_been_read(tmp_path: Path):
    content, truth = shuffled_or_not(1)
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(content))
    told: list[tuple[int, int]] = []

    judgments = Judgments.from_dict(truth)
    scan_compiled(
        Source(path), judgments, TREC_RUN, ReadOptions(), progress=lambda *both: told.append(both)
    )

    assert told[-1] == (len(content), 0)


def test_a_failure_in_one_thread_ends_the_others_and_is_raised(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    content, truth = shuffled_or_not(1)
    path = tmp_path / "run.txt"
    path.write_bytes(content)
    monkeypatch.setattr(reader, "_PART", 3000)
    calls: list[int] = []

    def failing(*arguments: object) -> tuple[int, int, bool]:
        calls.append(len(arguments))
        raise OSError("the disk is gone")

    monkeypatch.setattr(native.library, "reader_read", failing)
    with pytest.raises(OSError, match="the disk is gone"):
        scan_compiled(Source(path), Judgments.from_dict(truth), TREC_RUN, ReadOptions(), threads=3)

    assert len(calls) <= 3


def test_what_the_system_says_of_a_file_that_cannot_be_read_is_raised():
    judgments = Judgments.from_dict({"q": {"d": 1}})
    table = native.library.reader_table(judgments.queries, judgments.items, judgments.offsets)
    worker = native.library.reader_worker(
        table, (6, 0, 2, 4, False), (0, False, False, False), 0, 0
    )

    with pytest.raises(OSError, match="Bad file descriptor"):
        native.library.reader_read(worker, -1, bytearray(200), 0, 0, -1, 1000)
    with pytest.raises(ValueError, match="the buffer is too small"):
        native.library.reader_read(worker, 0, bytearray(65), 0, 0, -1, 1000)


def scores_of(texts: list[bytes]) -> np.ndarray:
    """The scores that the compiled reader reads, in the order of the texts."""
    content = b"".join(b"1 Q0 %d 1 %s t\n" % (number, text) for number, text in enumerate(texts))
    judgments = Judgments.from_dict({"1": {str(number): 1.0 for number in range(len(texts))}})
    hits = scan_compiled(Memory(content), judgments, TREC_RUN, ReadOptions())
    assert hits is not None
    items = [int(judgments.items[row]) for row in hits.row.tolist()]
    return hits.score[np.argsort(items)]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.sampled_from(range(7)),
)
def test_numbers_are_the_doubles_that_python_reads(values: list[float], form: int):
    forms = (
        repr,
        "{:.6f}".format,
        "{:.20e}".format,
        "{:.17g}".format,
        "{:+.12f}".format,
        "{:.8f}".format,
        "{:.15f}".format,
    )
    texts = [forms[form](value).encode() for value in values]

    assert scores_of(texts).tobytes() == struct.pack(f"{len(texts)}d", *map(float, texts))


@pytest.mark.parametrize("seed", range(20))
def test_digits_with_a_dot_and_an_exponent_anywhere_are_read_as_python_reads_them(seed: int):
    rng, texts = random.Random(seed), []
    while len(texts) < 2000:
        digits = "".join(
            rng.choice("0123456789" if rng.random() < 0.9 else "05")
            for _ in range(rng.randint(1, 24))
        )
        dot = rng.randint(0, len(digits))
        number = (
            rng.choice(("", "", "-", "+"))
            + digits[:dot]
            + rng.choice((".", ".", ""))
            + digits[dot:]
        )
        texts.append((number + (f"e{rng.randint(-40, 40)}" if rng.random() < 0.3 else "")).encode())

    assert scores_of(texts).tobytes() == struct.pack(f"{len(texts)}d", *map(float, texts))


@pytest.mark.parametrize("seed", range(5))
def test_numbers_just_beside_the_middle_of_two_doubles_are_rounded_as_python_rounds_them(seed: int):
    rng, texts = random.Random(seed), []
    while len(texts) < 3000:
        whole, shift = rng.getrandbits(53) | 1 << 52, rng.randint(1, 11)
        middle = (2 * whole + 1) << (shift - 1)
        texts += [str(near).encode() for near in (middle - 1, middle, middle + 1)]
        # (2m + 1) / 2**s has s decimals, few enough for 19 digits where the whole number is small.
        small, places = rng.getrandbits(53 - 10) | 1 << 52 - 10, 3
        text = f"{(2 * small + 1) * 5**places:0{places + 1}d}"
        texts.append(f"{text[:-places]}.{text[-places:]}".encode())

    assert scores_of(texts).tobytes() == struct.pack(f"{len(texts)}d", *map(float, texts))


def test_a_worker_cannot_be_used_by_two_threads_or_with_too_small_a_buffer():
    table = native.library.reader_table(("1",), ["a"], np.array([0, 1]))
    worker = native.library.reader_worker(
        table, (6, 0, 2, 4, False), (0, False, False, False), 0, 0
    )

    with pytest.raises(ValueError, match="too small"):
        native.library.reader_feed(worker, bytearray(64), 64, 0, True)
    with pytest.raises(ValueError, match="offsets"):
        native.library.reader_table(("1",), ["a"], np.array([0, 2]))
    with pytest.raises(ValueError, match="no such field"):
        native.library.reader_worker(table, (6, 0, 2, 6, False), (0, False, False, False), 0, 0)
    with pytest.raises(ValueError, match="belong together"):
        native.library.reader_absorb(worker, worker)


@pytest.mark.parametrize(
    "path", sorted(fuzz_reader.SEEDS.glob("*.run")), ids=lambda path: path.stem
)
def test_what_fuzzing_left_is_read_alike(path: Path, tmp_path: Path):
    _, agree = fuzz_reader.compare(path.read_bytes(), tmp_path / "run")

    assert agree
