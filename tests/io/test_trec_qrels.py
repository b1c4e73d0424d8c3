"""TREC judgments and preferences from bytes: what is right is read whatever the white space, what
is wrong is named.
"""

import gzip
from pathlib import Path

import pytest

from rankwell._native import native
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadLine, DuplicateItem
from rankwell.io import formats as io
from rankwell.io.formats import Request
from rankwell.io.trec import read_judgments, read_preferences, write_judgments
from rankwell.store import Source


@pytest.fixture(params=["native", "numpy"], autouse=True)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test holds with the compiled kernel and without it."""
    if request.param == "numpy":
        monkeypatch.setattr(native, "library", None)
    elif native.library is None:
        pytest.skip("the compiled kernel is not there: no compiler at installation")


def source_of(folder: Path, content: bytes, name: str = "qrels") -> Source:
    path = folder / name
    path.write_bytes(content)
    return Source(path)


def rows_of(judgments: Judgments) -> list[tuple]:
    owners = [judgments.queries[query] for query in judgments.query_of_row.tolist()]
    aspects = [] if judgments.aspects is None else [judgments.aspects]
    return list(zip(owners, *aspects, judgments.items, judgments.grades.tolist(), strict=True))


def test_any_white_space_line_end_and_order_is_read(tmp_path: Path) -> None:
    content = b"2 0 b 1\r\n 1\t0  z\t-1 \r\n\n1 Q0 a 2.5\r\n   \n2 0 a +3e0"

    found = read_judgments(source_of(tmp_path, content))

    assert rows_of(found) == [("1", "a", 2.5), ("1", "z", -1.0), ("2", "a", 3.0), ("2", "b", 1.0)]


def test_ids_keep_their_bytes(tmp_path: Path) -> None:
    content = "q\xa01 0 文書 1\n".encode() + b"\xff 0 \xe6 1\n\xff 0 #x 0\n"
    judgments = read_judgments(source_of(tmp_path, content))

    write_judgments(judgments, tmp_path / "again")

    assert judgments.queries == ("q\xa01", "\udcff")
    assert judgments.items == ["文書", "#x", "\udce6"]
    assert sorted((tmp_path / "again").read_bytes().splitlines()) == sorted(content.splitlines())


def test_compressed_files_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    marked = source_of(tmp_path, gzip.compress(b"\xef\xbb\xbf1 0 a 1\n"), "qrels.gz")

    assert rows_of(read_judgments(marked)) == [("1", "a", 1.0)]


def test_the_second_field_is_an_aspect_only_on_request(tmp_path: Path) -> None:
    source = source_of(tmp_path, b"1 g2 a 1\n1 g1 b 0\n")

    assert read_judgments(source).aspects is None
    assert rows_of(read_judgments(source, Request(aspects="groups"))) == [
        ("1", "g1", "b", 0.0),
        ("1", "g2", "a", 1.0),
    ]


def test_comment_lines_are_skipped_only_on_request(tmp_path: Path) -> None:
    source = source_of(tmp_path, b"# a comment\n1 0 a 1\n#another\n1 0 #b 1\n")

    assert rows_of(read_judgments(source, Request(comments=True))) == [
        ("1", "#b", 1.0),
        ("1", "a", 1.0),
    ]
    with pytest.raises(
        BadLine, match=r"qrels:1: '# a comment' is a comment, which trec_eval 10 alone skips"
    ):
        read_judgments(source)


def test_an_id_may_begin_as_a_comment_does(tmp_path: Path) -> None:
    assert rows_of(read_judgments(source_of(tmp_path, b"#1 0 a 1\n"))) == [("#1", "a", 1.0)]
    with pytest.raises(BadLine, match=r"qrels:1: '# of a tool' is a comment"):
        read_judgments(source_of(tmp_path, b"# of a tool\n1 0 a 1\n"))


WRONG = {
    "a run": (
        b"1 0 a 1\n\n1 Q0 d 1 0.5 tag\n",
        BadLine,
        r"qrels:3: '1 Q0 d 1 0.5 tag' has 6 fields, .*is this a run file\?",
    ),
    "too few": (b"1 0 a\n", BadLine, r"qrels:1: '1 0 a' has 3 fields"),
    "cut off": (b"1 0 a 1\n1 0", BadLine, r"qrels:2: '1 0' has 2 fields"),
    "text": (
        b"1 0 a 1\n1 0 b one\n",
        BadLine,
        r"qrels:2: grade 'one' in '1 0 b one' is not a finite number",
    ),
    "text further down": (
        b"1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 1\n1 0 e 1\n1 0 f x\n",
        BadLine,
        r"qrels:6: grade 'x'",
    ),
    "width further down": (
        b"1 0 a 1\n1 0 b 1\n1 0 c 1\n1 0 d 1\n1 0 e 1\n1 0 f\n",
        BadLine,
        r"qrels:6: '1 0 f' has 3",
    ),
    "nan": (b"1 0 a nan\n", BadLine, r"qrels:1: grade 'nan'"),
    "infinite": (b"1 0 a 1\n1 0 b 1e999\n", BadLine, r"qrels:2: grade '1e999'"),
    "underscores": (b"1 0 a 1_0\n", BadLine, r"qrels:1: grade '1_0'"),
    "twice": (
        b"\n1 0 b 1\n1 0 a 0\n\n1 9 b 0\n",
        DuplicateItem,
        r"qrels:5: query '1' judges item 'b' twice, in lines 2 and 5; keep",
    ),
    "nothing": (b"", BadInput, r"qrels holds no qrels line"),
    "blank": (b"\n \n", BadInput, r"qrels holds no qrels line"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_file_is_refused_with_line_and_text(tmp_path: Path, what: str) -> None:
    content, error, says = WRONG[what]

    with pytest.raises(error, match=says):
        read_judgments(source_of(tmp_path, content))


def test_an_item_may_have_a_judgment_for_each_of_two_aspects(tmp_path: Path) -> None:
    source = source_of(tmp_path, b"1 g b 1\n1 h b 0\n1 h b 1\n")

    with pytest.raises(DuplicateItem, match="in lines 2 and 3"):
        read_judgments(source, Request(aspects="groups"))


def test_of_two_judgments_the_requested_one_is_kept(tmp_path: Path) -> None:
    place = source_of(tmp_path, b"1 g b 0\n1 g b 1\n1 h b 2\n").file

    first = io.read_judgments(place, duplicates="first")
    best = io.read_judgments(place, duplicates="best", aspects="groups")

    assert rows_of(first) == [("1", "b", 0.0)]
    assert rows_of(best) == [("1", "g", "b", 1.0), ("1", "h", "b", 2.0)]


def test_qrels_and_preferences_are_recognised(tmp_path: Path) -> None:
    qrels = source_of(tmp_path, b"1 0 a 1\n1 0 b 0\n").file
    stated = source_of(tmp_path, b"1 u s a 1\n1 u s b 0\n", "prefs").file

    assert io.find_judgments(qrels).format == "trec"
    assert io.read_preferences(stated).items == ["a", "b"]
    with pytest.raises(
        BadInput,
        match=r"prefs:1: .*a file of preferences.*item 'a', grade 1 "
        r"\(qrels_columns='query=1,item=4,grade=5'",
    ):
        io.read_judgments(stated)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    judgments = Judgments.from_rows(
        ["q", "q", "p"], ["a", "b", "a"], [1.0, 0.1 + 0.2, -2.0], aspects=["2", "10", "1"]
    )

    io.write_judgments(judgments, tmp_path / "out.qrels")

    assert (
        tmp_path / "out.qrels"
    ).read_bytes() == b"p 1 a -2\nq 10 b 0.30000000000000004\nq 2 a 1\n"
    assert rows_of(
        read_judgments(Source(tmp_path / "out.qrels"), Request(aspects="groups"))
    ) == rows_of(judgments)


def test_an_id_with_white_space_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'a b' has white space"):
        write_judgments(Judgments.from_dict({"q": {"a b": 1.0}}), tmp_path / "out")


def test_preferences_are_read_with_all_their_fields(tmp_path: Path) -> None:
    found = read_preferences(
        source_of(tmp_path, b"# who\nq u s b 2\nq u s a 0.5\n\nq t 0 a 0\n"), Request(comments=True)
    )

    assert (found.queries, found.groups, found.subgroups) == (
        ("q",),
        ["t", "u", "u"],
        ["0", "s", "s"],
    )
    assert (found.items, found.levels.tolist()) == (["a", "a", "b"], [0.0, 0.5, 2.0])


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (
            b"q u s a 1\nq u s a 2\n",
            DuplicateItem,
            r"prefs:2: query 'q' names item 'a' twice, in lines 1 and 2",
        ),
        (
            b"q 0 a 1\n",
            BadLine,
            r"prefs:1: 'q 0 a 1' has 4 fields, a preference line has 5 .*is this a qrels file\?",
        ),
        (b"q u s a x\n", BadLine, r"prefs:1: level 'x'"),
        (
            b"q u s a 1\nq u s b 0\nq u t a 1\nq u t b 2\n",
            BadInput,
            r"prefs: query 'q', group 'u': item 'b' has level 0",
        ),
    ],
)
def test_wrong_preferences_are_refused_with_their_place(
    tmp_path: Path, content: bytes, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        read_preferences(source_of(tmp_path, content, "prefs"))
