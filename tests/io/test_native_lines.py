"""Lines of every length: up to 64 bytes they are read at a stroke, field by field where they are
longer, and all alike.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rankwell._native import native
from rankwell.data.tables import Judgments
from rankwell.io.formats import Request
from rankwell.io.reader import Scan, read_judged_rows
from rankwell.io.reader import lines as plain
from rankwell.io.reader.lines import MSMARCO_RUN, TREC_RUN, Layout, ReadOptions
from rankwell.io.trec import read_judgments
from rankwell.store import Source, decode_id
from test_kernels import Memory
from test_native_reader import fuzz_reader, outcome, same

pytestmark = pytest.mark.skipif(
    native.library is None, reason="the compiled kernel is not there: no compiler at installation"
)

LENGTHS = range(1, 201)
ENDS = (b"\n", b"\r\n", b" \n", b"\t\r\n", b"\r\r\n", b"\v\n")
WHITE = (b" ", b"\t", b"  ", b"\t\t", b" \t", b"\t ", b"\v", b"\f", b"\r", b" \r ")
CONTROL = (b"\x00", b"\x01", b"\x08", b"\x0e", b"\x1f", b"\x7f", b"\xa0", b"\xff")
FORMS: dict[Layout, list[bytes]] = {
    TREC_RUN: [b"1", b"Q0", b"", b"1", b"2.5", b"t"],
    MSMARCO_RUN: [b"1", b"", b"7"],
    Layout("run from the right", "score item query", fields=3, query=2, item=1, value=0): [
        b"2.5",
        b"",
        b"1",
    ],
    Layout("run by item", "item rank query 4", fields=4, query=2, item=0, value=1, by_rank=True): [
        b"",
        b"7",
        b"1",
        b"t",
    ],
}


def gaps_of(fields: int) -> Iterator[list[bytes]]:
    """What may stand between the fields: blanks or tabs, and some other white space at every place
    of them.
    """
    for usual in (b" ", b"\t"):
        yield [usual] * (fields - 1)
        for place in range(fields - 1):
            for other in WHITE:
                gaps = [usual] * (fields - 1)
                gaps[place] = other
                yield gaps


def line_of(
    fields: list[bytes], gaps: list[bytes], length: int, padded: int, pad: bytes
) -> bytes | None:
    """The fields with as much of something in one of them that the line has a length; None where it
    is too long already.
    """
    missing = length - len(b"".join([*fields, *gaps]))
    if missing < 0:
        return None
    longer = [pad * (missing * (place == padded)) + field for place, field in enumerate(fields)]
    return b"".join(field + gap for field, gap in zip(longer, [*gaps, b""], strict=True))


def lines_of(
    layout: Layout, gaps: list[bytes], padded: int, extra: bytes = b"", turn: int = 0
) -> tuple[bytes, dict[str, dict[str, float]]]:
    """Lines of every length, each with one of the ends, and judgments of most of them."""
    content, truth = list[bytes](), dict[str, dict[str, float]]()
    for length in LENGTHS:
        fields = list(FORMS[layout])
        fields[layout.item] = b"%d" % (1000 + length)
        fields[padded] = extra + fields[padded]
        line = line_of(fields, gaps, length, padded, b"0" if padded == layout.value else b"x")
        if line is not None:
            content.append(line + ENDS[(length + turn) % len(ENDS)])
            found = line.split()
            if length % 3:
                truth.setdefault(decode_id(found[layout.query]), {})[
                    decode_id(found[layout.item])
                ] = 1.0
    return b"".join(content), truth | {"absent": {}}


def check(
    content: bytes,
    truth: dict[str, dict[str, float]],
    layout: Layout,
    reading: ReadOptions,
    size: int = 1 << 18,
) -> bool:
    """Whether the content is a run for both readers, which agree about it in any case."""
    judgments = Judgments.from_dict(truth)
    found = outcome(
        lambda: Scan(Memory(content), judgments, layout, reading, block_size=size).hits(judgments)
    )
    wanted = outcome(plain.scan, Memory(content), judgments, layout, reading)
    assert (
        found == wanted
        if isinstance(found, tuple) or isinstance(wanted, tuple)
        else same(found, wanted)
    ), content
    return not isinstance(found, tuple)


@pytest.mark.parametrize("layout", FORMS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("size", [64, 1 << 18])
def test_white_space_is_the_same_in_lines_of_every_length(layout: Layout, size: int):
    for number, gaps in enumerate(gaps_of(layout.fields)):
        content, truth = lines_of(
            layout, gaps, number % layout.fields, turn=number // layout.fields + size
        )

        assert check(
            content,
            truth,
            layout,
            ReadOptions(keep=number % 2, trailing=number % 3 == 0, comments=number % 5 == 0),
            size,
        )


@pytest.mark.parametrize("layout", FORMS, ids=lambda layout: layout.name)
def test_control_characters_belong_to_the_fields_of_lines_of_every_length(layout: Layout):
    usual = [b" "] * (layout.fields - 1)
    for padded in range(layout.fields):
        for byte in CONTROL:
            content, truth = lines_of(layout, usual, padded, byte)

            assert check(content, truth, layout, ReadOptions()) == (padded != layout.value)


@pytest.mark.parametrize("layout", [TREC_RUN, MSMARCO_RUN], ids=lambda layout: layout.name)
@pytest.mark.parametrize("end", [b"", *ENDS[:3]])
def test_both_readers_report_lines_that_are_cut_off_anywhere(layout: Layout, end: bytes):
    fields = list(FORMS[layout])
    fields[layout.item] = b"item"
    good = 0
    for padded, length, usual in (
        (layout.fields - 1, 200, b" "),
        (0, 70, b"\t"),
        (layout.item, 64, b" "),
    ):
        gaps = [usual] * (layout.fields - 1)
        pad = b"0" if padded == layout.value else b"x"
        line = line_of(fields, gaps, length, padded, pad) or b""
        other = line_of([field[:1] for field in fields], gaps, 63, layout.query, b"y") or b""
        truth = {
            name.decode(): {"item": 1.0, "i": 1.0}
            for name in (line.split()[0], other.split()[0], b"1")
        }
        for cut in [cut for cut in LENGTHS if cut <= length and (cut < 72 or (cut + 2) % 64 < 5)]:
            # What follows has fields enough for the line before it.
            behind = b"" if not end else (other + end) * (cut % 2)
            good += check(
                other[1:] + b"\n" + line[:cut] + end + behind,
                truth,
                layout,
                ReadOptions(trailing=cut % 3 == 0),
            )
    assert good > 3


@pytest.mark.parametrize("byte", [b"\x00", b"\x01", b"\x08", b"\x0e", b"\x1f", b"\xa0"])
def test_control_characters_do_not_stand_between_fields(byte: bytes):
    for length in (20, 63, 64, 65, 129):
        for place in range(5):
            for end in (b"", b"\n", b"\r\n"):
                gaps = [b" "] * 5
                gaps[place] = byte
                line = (
                    line_of([b"1", b"Q0", b"d", b"1", b"2.5", b"7"], gaps, length, 5, b"0") or b""
                )

                assert not check(
                    b"1 Q0 e 1 2.5 t\n" + line + end, {"1": {"d": 1.0}}, TREC_RUN, ReadOptions()
                )
                # With a sixth field the fifth is the score: the zeros and the 7, or two numbers
                # with no white space in between.
                assert check(
                    b"1 Q0 e 1 2.5 t\n" + line + b" t" + end,
                    {"1": {"d": 1.0}},
                    TREC_RUN,
                    ReadOptions(),
                ) == (place < 4)


def test_judgments_are_the_same_from_lines_of_every_length(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    path = tmp_path / "qrels"
    for number, gaps in enumerate(gaps_of(4)):
        lines = list[bytes]()
        for length in LENGTHS:
            line = line_of(
                [b"1", b"0", b"%d" % (1000 + length), b"2"],
                gaps,
                length,
                number % 4,
                b"0" if number % 4 == 3 else b"x",
            )
            lines += [] if line is None else [line + ENDS[(length + number) % len(ENDS)]]
        path.write_bytes(b"".join(lines))
        aspects, comments = number % 3 == 0, number % 2 == 0

        rows = read_judged_rows(Source(path), comments=comments, aspects=aspects)
        with monkeypatch.context() as patch:
            patch.setattr(native, "library", None)
            plain = read_judgments(
                Source(path), Request(aspects="groups" if aspects else "none", comments=comments)
            )
        assert rows is not None
        assert fuzz_reader.judged(rows.table()) == fuzz_reader.judged(plain)


@pytest.mark.parametrize("end", [b"", *ENDS[:3]])
def test_both_readers_report_judgments_that_are_cut_off_anywhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: bytes
):
    path = tmp_path / "qrels"
    line = line_of([b"1", b"0", b"d", b"2"], [b" ", b"\t", b" "], 200, 2, b"x") or b""
    kinds = set[bool]()
    for cut in LENGTHS:
        behind = b"1 0 %s 1\n" % (b"f" * 56) if cut % 2 and end else b""
        path.write_bytes(b"1 0 e 1\n" + line[:cut] + end + behind)
        rows = read_judged_rows(Source(path))
        with monkeypatch.context() as patch:
            patch.setattr(native, "library", None)
            plain = outcome(read_judgments, Source(path))
        kinds.add(rows is None)
        if rows is None:
            assert isinstance(plain, tuple), cut
        else:
            assert fuzz_reader.judged(rows.table()) == fuzz_reader.judged(plain), cut
    assert kinds == {True, False}
