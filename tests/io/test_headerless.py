"""Lines without a header: each layout of three, four and five columns is read as what it is, or
refused with its readings.
"""

import re
import subprocess
import sys
from itertools import combinations, permutations
from pathlib import Path

import pandas as pd
import pytest

from rankwell._native import native
from rankwell.data.columns import refuse_unused_columns
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadUsage
from rankwell.io import formats as files
from rankwell.io.formats import Request
from rankwell.io.shards import find_hits_in_shards

SEPARATORS = {"blank": " ", "tab": "\t", "comma": ",", "semicolon": ";"}
# Two queries, whose third item has the lowest score. The items of the second kind are numbers.
SCORES = {"q1": (9.5, 8.25, 7.5), "q2": (6.5, 5.25, 1.5)}
GRADES = {"q1": (2, 0, 1), "q2": (0, 2, 0)}
ITEMS = {
    "words": ("d1", "d2", "d3", "d4", "d5", "d6"),
    "numbers": ("101", "102", "103", "104", "105", "106"),
}


def _lines(layout, separator=" ", items="words"):
    """The file whose columns are those of the layout."""
    lines = []
    for at, (query, place) in enumerate((query, place) for query in SCORES for place in range(3)):
        cells = {
            "query": query,
            "item": ITEMS[items][at],
            "score": SCORES[query][place],
            "rank": place + 1,
            "grade": GRADES[query][place],
            "Q0": "Q0",
            "0": "0",
            "tag": "bm25",
            "time": 978300760 + 7 * at,
        }
        lines.append(separator.join(str(cells[kind]) for kind in layout) + "\n")
    return "".join(lines)


def _run(value, items="words"):
    """The run of the lines."""
    owners = [(query, place) for query in SCORES for place in range(3)]
    numbers = [
        SCORES[query][place] if value == "score" else -(place + 1.0) for query, place in owners
    ]
    found = {query: {} for query in SCORES}
    for (query, _), item, number in zip(owners, ITEMS[items], numbers, strict=True):
        found[query][item] = number
    return found


def _judgments(items="words"):
    owners = [(query, place) for query in SCORES for place in range(3)]
    found = {query: {} for query in SCORES}
    for (query, place), item in zip(owners, ITEMS[items], strict=True):
        found[query][item] = float(GRADES[query][place])
    return found


def _choice(layout, *kinds):
    return ",".join(f"{kind}={layout.index(kind) + 1}" for kind in kinds)


def _layouts(needed, others, width):
    """Every order of the needed columns and of some others."""
    for further in combinations(others, width - len(needed)):
        yield from permutations((*needed, *further))


def _as_dict(ranking):
    columns = ranking.to_columns()
    found = {}
    for query, item, score in zip(columns["query"], columns["item"], columns["score"], strict=True):
        found.setdefault(query, {})[item] = score
    return found


def _is_read(place, read, option):
    """Whether a file is read; where it is not, the message names the option with columns."""
    try:
        read(place)
    except BadInput as error:
        message = str(error)
    else:
        return True
    assert re.search(option, message), (place.read_text(), message)
    return False


@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("width", [3, 4, 5])
@pytest.mark.parametrize("value", ["score", "rank"])
def test_a_run_without_a_header_is_read_as_what_it_is_or_refused(
    value, width, separator, items, tmp_path
):
    place, mark, read = tmp_path / "x", SEPARATORS[separator], set()
    others = ("Q0", "tag", "time") + (("rank",) if value == "score" else ())
    for layout in _layouts(("query", "item", value), others, width):
        # Tables cost more time than lines.
        if separator in ("comma", "semicolon") and (layout[0] != "query" or items == "numbers"):
            continue
        place.write_text(_lines(layout, mark, items))
        # The first column is taken for the query.
        if layout[0] == "query" and _is_read(
            place, files.read_ranking, r"\bcolumns='query=\d,item=\d,(score|rank)=\d'"
        ):
            assert _as_dict(files.read_ranking(place)) == _run(value, items), layout
            read.add(layout)
        assert _as_dict(
            files.read_ranking(place, columns=_choice(layout, "query", "item", value))
        ) == _run(value, items), layout
    assert read == (
        {("query", "item", value)} if width == 3 and separator in ("blank", "tab") else set()
    )


@pytest.mark.parametrize("items", ITEMS)
@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("width", [3, 4, 5])
def test_judgments_without_a_header_are_read_as_what_they_are_or_refused(
    width, separator, items, tmp_path
):
    place, mark, read = tmp_path / "x", SEPARATORS[separator], set()
    for layout in _layouts(("query", "item", "grade"), ("0", "tag", "time", "score"), width):
        if separator in ("comma", "semicolon") and (layout[0] != "query" or items == "numbers"):
            continue
        # What has the form of TREC's lines, an item and a number in the last two columns, is taken
        # for them.
        if width == 4 and (
            layout[2:] in (("item", "0"), ("item", "score")) or layout[2:] == ("time", "item")
        ):
            continue
        place.write_text(_lines(layout, mark, items))
        if layout[0] == "query" and _is_read(
            place, files.read_judgments, r"qrels_columns='query=\d,item=\d,grade=\d'"
        ):
            assert files.read_judgments(place).to_dict() == _judgments(items), layout
            read.add(layout)
        chosen = files.read_judgments(
            place, qrels_columns=_choice(layout, "query", "item", "grade")
        )
        assert chosen.to_dict() == _judgments(items), layout
    expected = (
        {("query", "item", "grade")}
        if width == 3
        else {("query", "0", "item", "grade")}
        if width == 4
        else set()
    )
    assert read >= (expected if separator in ("blank", "tab") else set())
    assert not read or separator in ("blank", "tab")


SHAPES = {
    "1 to n in order": ((1, 2, 3), (1, 2), "ranks"),
    "one line each": ((1,), (1,), "ranks"),
    "falling integers": ((3, 2, 1), (2, 1), "scores"),
    "n − rank": ((2, 1, 0), (1, 0), "scores"),
    "falling with ties": ((40, 40, 7), (12, 12), "scores"),
    "all equal": ((1, 1, 1), (1, 1), "scores"),
    "fractions in any order": ((0.5, 0.25, 0.75), (0.5, 0.125), "scores"),
    "signs in any order": ((-3, 2, -1), (2, 1), "scores"),
    "repeated in any order": ((9, 7, 9), (4, 2), "scores"),
    "0 and gaps in any order": ((57, 0, 99), (12, 3), "scores"),
    "one line with another number": ((17,), (4,), "scores"),
    "1 to n in another order": ((1, 3, 2), (2, 1), "score 1 .* rank 1"),
    "0 to n − 1 in order": ((0, 1, 2), (0, 1), "score 0 .* rank 0 .*rise in every query"),
    "0 to n − 1 in another order": ((2, 0, 1), (1, 0), "score 2 .* rank 2"),
    "with gaps": ((1, 2, 5), (2, 3), "score 1 .* rank 1 .*rise in every query"),
    "two lists of ranks, one behind the other": ((1, 2, 3, 1, 2, 3), (1, 2), "score 1 .* rank 1"),
    "rising fractions": (
        (0.25, 0.5, 0.75),
        (0.125, 0.5),
        "score 0.25 .* rank 0.25 .*rise in every query",
    ),
    "distinct integers in any order": ((11, 57, 23), (4, 9), "score 11 .* rank 11"),
    "ranks in one query, falling in the other": ((1, 2, 3), (2, 1), "score 1 .* rank 1"),
}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("mixed", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_three_columns_are_ranks_or_scores_as_the_whole_file_says(
    shape, mixed, judged, compiled, tmp_path, monkeypatch
):
    first, second, expected = SHAPES[shape]
    if not compiled:
        monkeypatch.setattr(native, "library", None)
    lines = [
        (f"q{owner}", f"d{owner}{at}", each, at)
        for owner, own in enumerate((first, second))
        for at, each in enumerate(own)
    ]
    if mixed:
        lines.sort(key=lambda line: line[3])
    place = tmp_path / "x"
    place.write_text("".join(f"{query}\t{item}\t{number}\n" for query, item, number, _ in lines))
    judgments = Judgments.from_dict({"q0": {"d00": 1}} if judged else {"other": {"d00": 1}})

    if expected in ("ranks", "scores"):
        sign = -1.0 if expected == "ranks" else 1.0
        scores = {item: sign * number for _, item, number, _ in lines}
        ranking = files.read_ranking(place)
        assert dict(zip(ranking.items, ranking.scores.tolist(), strict=True)) == scores
        hits = files.find_hits(place, judgments).hits
        assert hits.score.tolist() == ([scores["d00"]] if judged else [])
    else:
        for read in (
            files.read_ranking,
            files.check_ranking,
            lambda at: files.find_hits(at, judgments),
        ):
            with pytest.raises(BadInput, match=expected):
                read(place)
    for key, sign in (("score", 1.0), ("rank", -1.0)):
        if key == "score" or all(number % 1 == 0 and number >= 0 for _, _, number, _ in lines):
            ranking = files.read_ranking(place, columns={"query": 1, "item": 2, key: 3})
            assert ranking.scores.tolist() == [
                sign * number for _, _, number, _ in sorted(lines, key=lambda line: line[0])
            ]


@pytest.mark.parametrize("length", [1, 10])
@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_a_query_far_behind_the_first_lines_may_contradict_them(
    judged, compiled, length, tmp_path, monkeypatch
):
    if not compiled:
        monkeypatch.setattr(native, "library", None)
    place = tmp_path / "x"
    text = "".join(
        f"{query} d{item} {item}\n" for query in range(3000) for item in range(1, length + 1)
    )
    judgments = Judgments.from_dict({"2999" if not judged else "late": {"d1": 1}})
    place.write_text(text)
    assert files.find_hits(place, judgments).format == "msmarco"

    place.write_text(text + "late d1 2\nlate d2 1\n")

    for read in (files.read_ranking, lambda at: files.find_hits(at, judgments)):
        with pytest.raises(BadInput, match=r"x:1: '0 d1 1' can be read as .*score 1 .* rank 1"):
            read(place)
    assert files.find_hits(place, judgments, format="msmarco").format == "msmarco"


def test_shards_are_settled_one_by_one_and_read_as_chosen(tmp_path):
    judgments = Judgments.from_dict({"q": {"a": 1, "d": 1}})
    (tmp_path / "1").write_text("q a 1\nq b 2\n")
    (tmp_path / "2").write_text("q c 3\nq d 4\n")
    shards = [str(tmp_path / "1"), str(tmp_path / "2")]

    with pytest.raises(BadInput, match=r"2:1: 'q c 3' can be read as .*rise in every query"):
        find_hits_in_shards(shards, judgments, None, Request())
    found = find_hits_in_shards(
        shards, judgments, None, Request(columns={"query": "1", "item": "2", "rank": "3"})
    )
    assert found.hits.above.tolist() == [0, 3]
    found = find_hits_in_shards(
        shards, judgments, None, Request(columns={"query": "1", "item": "2", "score": "3"})
    )
    assert found.hits.above.tolist() == [3, 0]


MOVIELENS = {
    "u.data": "196\t242\t3\t881250949\n186\t302\t3\t891717742\n22\t377\t1\t878887116\n196\t51\t5\t881251949\n",  # noqa: E501
    "u.data of one user": "1\t61\t4\t878542420\n1\t189\t3\t888732928\n1\t33\t4\t878542699\n",
    "ratings.dat": "1::1193::5::978300760\n1::661::3::978302109\n2::914::3::978301968\n",
    "ratings.csv without its header": "1,31,2.5,1260759144\n1,1029,3.0,1260759179\n2,10,4.0,835355493\n",  # noqa: E501
}


@pytest.mark.parametrize("case", MOVIELENS)
def test_lines_of_movielens_are_not_judgments_until_their_columns_are_chosen(case, tmp_path):
    place = tmp_path / "x"
    place.write_text(MOVIELENS[case])
    rows = [re.split(r"::|[\t,]", line) for line in MOVIELENS[case].splitlines()]

    with pytest.raises(
        BadInput,
        match=r"column 4 has \d+, as no scale of grades; .*qrels_columns='query=1,item=2,grade=3'",
    ):
        files.read_judgments(place)
    found = files.read_judgments(place, qrels_columns="query=1,item=2,grade=3").to_dict()
    assert found == {
        user: {item: float(rating) for own, item, rating, _ in rows if own == user}
        for user, *_ in rows
    }


def test_a_time_far_behind_the_first_lines_of_qrels_is_not_a_grade(tmp_path):
    place = tmp_path / "x"
    place.write_text(
        "".join(f"q{number} 0 d{number} 1\n" for number in range(9000)) + "q 0 d 978300760\n"
    )

    with pytest.raises(BadInput, match="978300760 is above any scale of grades"):
        files.read_judgments(place)
    assert files.read_judgments(place, format="trec").grades.max() == 978300760
    chosen = files.read_judgments(place, qrels_columns={"query": 1, "item": 3, "grade": 4})
    assert chosen.grades.max() == 978300760


QRELS = {
    "the items are numbers": (
        "1 0 184 1\n1 0 29 0\n2 0 7 2\n",
        {"1": {"184": 1, "29": 0}, "2": {"7": 2}},
    ),
    "each query has one line": (
        "1 0 7187158 1\n2 0 7187157 1\n",
        {"1": {"7187158": 1}, "2": {"7187157": 1}},
    ),
    "one line": ("1 Q0 5 1\n", {"1": {"5": 1}}),
    "subtopics": ("1 1 a 1\n1 2 a 0\n", None),
    "three columns": ("1 a 2\n1 b 0\n2 d 1\n", {"1": {"a": 2, "b": 0}, "2": {"d": 1}}),
}


@pytest.mark.parametrize("case", QRELS)
def test_certain_judgments_are_read(case, tmp_path):
    text, expected = QRELS[case]
    (tmp_path / "x").write_text(text)
    if expected is None:
        assert len(files.read_judgments(tmp_path / "x", aspects="intents").items) == 2
    else:
        assert files.read_judgments(tmp_path / "x").to_dict() == expected


DOUBTFUL = {
    "query item 0 grade": (
        "1 a 0 1\n2 d 0 2\n",
        r"item 'a', grade 0 \(.*grade=3'\) or as .*item 'a', grade 1 \(.*grade=4'\)",
    ),
    "query item grade and another number": (
        "1 5 2 3\n1 6 1 4\n2 9 1 3\n",
        r"item '5', grade 2 .* item '5', grade 3 ",
    ),
    "query 0 item": ("1 0 184\n2 0 29\n", "the second column is the same in every line"),
    "ranks": (
        "1 a 1\n1 b 2\n2 d 1\n",
        "the numbers count the lines of every query, as ranks of a run do",
    ),
    "times": ("1 a 978300760\n1 b 978300761\n", "978300761 is above any scale of grades"),
    "query grade item": (
        "1 2 a\n1 0 b\n",
        r"item 'a', grade 2 \(qrels_columns='query=1,item=3,grade=2'\)",
    ),
}


@pytest.mark.parametrize("case", DOUBTFUL)
def test_doubtful_judgments_are_refused_with_the_reason(case, tmp_path):
    text, pattern = DOUBTFUL[case]
    (tmp_path / "x").write_text(text)
    with pytest.raises(BadInput, match=pattern) as caught:
        files.read_judgments(tmp_path / "x")
    assert "qrels_columns='query=1,item=" in str(caught.value)
    assert "exchange" not in str(caught.value)


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet", "arrow", "frame"])
def test_columns_of_a_table_are_chosen_by_name_and_by_number(form, tmp_path):
    frame = pd.DataFrame(
        {
            "who": ["q", "q"],
            "what": ["a", "b"],
            "rank": [2, 1],
            "much": [0.5, 0.75],
            "grade": [1, 0],
        }
    )
    place = tmp_path / f"x.{form}"
    if form in ("csv", "tsv"):
        frame.to_csv(place, index=False, sep="," if form == "csv" else "\t")
    elif form == "jsonl":
        frame.to_json(place, orient="records", lines=True)
    elif form == "parquet":
        frame.to_parquet(place)
    elif form == "arrow":
        pa = pytest.importorskip("pyarrow")
        table = pa.Table.from_pandas(frame)
        with pa.ipc.new_stream(place, table.schema) as stream:
            stream.write_table(table)
    given = frame if form == "frame" else place

    for choice in ("query=who,item=what,score=much", {"query": 1, "item": 2, "score": 4}):
        assert _as_dict(files.read_ranking(given, columns=choice)) == {"q": {"a": 0.5, "b": 0.75}}
    assert _as_dict(files.read_ranking(given, columns="query=who,item=2,rank=rank")) == {
        "q": {"a": -2.0, "b": -1.0}
    }
    for choice in ("query=who,item=what", {"query": 1, "item": 2, "grade": "5"}):
        assert files.read_judgments(given, qrels_columns=choice).to_dict() == {
            "q": {"a": 1.0, "b": 0.0}
        }
    with pytest.raises(
        BadInput, match=r"no column '9'; found are 'who', 'what'|no known form|can be read as"
    ):
        files.read_ranking(given, columns="query=9,item=what,score=much")


WRONG = {
    "an unknown key": "query=1,item=2,grade=3",
    "a number twice": "query=1,item=1,score=3",
    "a number in two notations": "query=1,item=2,score=02",
    "a key twice": "query=1,query=2,score=3",
    "score and rank": "query=1,item=2,score=3,rank=4",
    "no number": "query=1,item=,score=3",
    "words": "first,second",
    "nothing": "",
    "a list": ["query", "item"],
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_choice_of_columns_is_refused(case, tmp_path):
    (tmp_path / "x").write_text("q d 1 9.5\n")
    with pytest.raises(BadUsage, match=r"columns.*query=1,item=2,score=3"):
        files.read_ranking(tmp_path / "x", columns=WRONG[case])


def test_a_choice_that_lacks_a_column_of_lines_says_which(tmp_path):
    (tmp_path / "x").write_text("q d 1 9.5\n")
    with pytest.raises(BadUsage, match="x has no header; choose its item with columns, too"):
        files.read_ranking(tmp_path / "x", columns="query=1,score=4")
    with pytest.raises(
        BadUsage, match="x has no header; choose its score or rank with columns, too"
    ):
        files.read_ranking(tmp_path / "x", columns="query=1,item=2")


def test_lines_that_do_not_have_the_chosen_columns_are_named(tmp_path):
    (tmp_path / "x").write_text("1::5::3::978300760\n1::6::good::978300760\n")
    with pytest.raises(BadInput, match=r"x:2: '1::6::good::978300760': the grade is 'good'"):
        files.read_judgments(tmp_path / "x", qrels_columns="query=1,item=2,grade=3")
    (tmp_path / "x").write_text("q d 1 9.5\nq e 2\n")
    with pytest.raises(
        BadInput, match=r"x:2: 3 fields in 'q e 2', a run line has 4 \(query item 3 score\)"
    ):
        files.find_hits(
            tmp_path / "x", Judgments.from_dict({"q": {"d": 1}}), columns="query=1,item=2,score=4"
        )


@pytest.mark.parametrize(
    ("choice", "missing"),
    [
        ("query=q,item=i,score=s", "q"),
        *((f"query=1,item=2,score={name}", name) for name in ("9", "0", "²")),
    ],
)
@pytest.mark.parametrize(("line", "width"), [("q d 9.5", 3), ("q Q0 d 1 9.5 t", 6)])
def test_columns_that_lines_do_not_have_are_refused_with_the_option(
    choice, missing, line, width, tmp_path
):
    (tmp_path / "x").write_text(f"{line}\n")
    for name in (None, "headerless"):
        what = (
            f"there is no column '{missing}' in .*x:1: '{line}', which has {width}; columns count "
            "from 1"
        )
        with pytest.raises(BadUsage, match=rf"columns='{choice}': {what}"):
            files.read_ranking(tmp_path / "x", format=name, columns=choice)


def test_qrels_in_place_of_a_run_are_named_though_a_line_is_broken(tmp_path):
    (tmp_path / "x").write_text("1 0 a 1\n1 0 b 1\nb\n")
    with pytest.raises(
        BadInput, match=r"x:1: '1 0 a 1': this looks like judgments \(trec\); expected a run"
    ):
        files.read_ranking(tmp_path / "x")


def test_a_table_that_is_called_headerless_is_refused(tmp_path):
    (tmp_path / "x").write_text("q,d,9.5\n")
    with pytest.raises(BadUsage, match=r"x is a table \(csv\); leave out the format"):
        files.read_ranking(tmp_path / "x", format="headerless", columns="query=1,item=2,score=3")


def test_chosen_columns_give_the_same_values_by_the_command_and_in_parts(tmp_path):
    (tmp_path / "run").write_text("".join(f"{n % 3} x d{n} {n % 7}.5\n" for n in range(60)))
    (tmp_path / "qrels").write_text("".join(f"d{n},{n % 3},{n % 2}\n" for n in range(60)))
    options = [
        "--columns",
        "query=1,item=3,score=4",
        "--qrels-columns",
        "query=2,item=1,grade=3",
        "-f",
        "csv",
    ]
    command = [
        sys.executable,
        "-P",
        "-m",
        "rankwell",
        "evaluate",
        "qrels",
        "run",
        "-m",
        "nDCG@5",
        *options,
    ]

    once, parts = (
        subprocess.run(each, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for each in (command, [*command, "--work", "work", "--shards", "3"])
    )

    assert once.splitlines()[1:] == parts.splitlines()[1:]
    assert re.match(r"run,nDCG@5,nDCG@5,0\.\d", once.splitlines()[1])


@pytest.mark.parametrize(
    "line",
    [
        "evaluate - -",
        "evaluate q - --queries -",
        "check q - --documents -",
        "fuse - r -o fused.trec --tune -",
    ],
)
def test_standard_input_is_one_of_the_files(line: str, tmp_path: Path):
    for name in ("q", "r"):
        (tmp_path / name).write_text("1 0 a 1\n")
    command = [sys.executable, "-P", "-m", "rankwell", *line.split()]
    done = subprocess.run(
        command, cwd=tmp_path, input="1 0 a 1\n", capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "rankwell: standard input is named for two inputs and holds one; name a file for the "
        "other.\n"
    )


def test_columns_of_a_file_that_is_not_given_are_refused():
    refuse_unused_columns(None, "run", "--run")
    with pytest.raises(
        BadUsage, match=r"columns='query=1,item=2,score=3' has no effect without --run; give it"
    ):
        refuse_unused_columns("query=1,item=2,score=3", "run", "--run")
    with pytest.raises(
        BadUsage, match=r"qrels_columns=\{'grade': 'strict'\} has no effect without --qrels"
    ):
        refuse_unused_columns({"grade": "strict"}, "judgments", "--qrels")
