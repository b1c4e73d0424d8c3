"""The commonest mistakes, each with the sentence that a user sees; and no such sentence about what
is right.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import rankwell as rw
from rankwell import cli
from rankwell.tasks.runs.checks import Fact
from rankwell.tasks.runs.commands.demo import prepare

QUERIES = [str(number) for number in range(1, 21)]
Numbers = dict[str, dict[str, float]]
GRADES: Numbers = {query: {f"d{query}a": 2, f"d{query}b": 1, f"d{query}h": 0} for query in QUERIES}
RUN: Numbers = {
    query: {f"d{query}{letter}": 9.5 - at for at, letter in enumerate("abcdefgh")}
    for query in QUERIES
}
NUMBERED: Numbers = {"1": {"7": 3, "12": 2, "30": 1}}


NAMES_OF_MISTAKES = {
    "copy-of-another-run",
    "equal-scores",
    "item-ids-in-another-notation",
    "item-ids-in-two-notations",
    "item-that-stands-for-none",
    "judged-items-missing",
    "judgments-and-run-swapped",
    "most-judged-queries-missing",
    "no-judged-item",
    "nothing-relevant",
    "queries-and-items-swapped",
    "query-ids-in-two-notations",
    "ranks-and-scores-swapped",
    "ranks-contradict-scores",
    "ranks-in-place-of-scores",
    "relevant-items-last",
    "rising-scores",
    "rounded-scores",
    "some-item-ids-in-two-notations",
    "some-query-ids-in-two-notations",
}


def said(result: rw.Results) -> list[str]:
    """The mistakes that are found."""
    return [finding for finding in result.findings if finding.name in NAMES_OF_MISTAKES]


def qrels(grades: Numbers, form: str = "{query} 0 {item} {grade:g}") -> str:
    rows = ((query, item, grade) for query, own in grades.items() for item, grade in own.items())
    return "".join(
        f"{form.format(query=query, item=item, grade=grade)}\n" for query, item, grade in rows
    )


def trec(
    run: Numbers, form: str = "{query} Q0 {item} {rank} {score} t", *, backwards: bool = False
) -> str:
    rows = [
        (query, item, rank, score)
        for query, own in run.items()
        for rank, (item, score) in enumerate(own.items(), 1)
    ]
    lines = [
        f"{form.format(query=query, item=item, rank=rank, score=score)}\n"
        for query, item, rank, score in rows
    ]
    return "".join(lines[::-1] if backwards else lines)


def csv(run: Numbers, form: str = "{query},{item},{score}", head: str = "query,item,score") -> str:
    return f"{head}\n{trec(run, form)}"


def renamed(
    numbers: Numbers, query: Callable[[str], str] = str, item: Callable[[str], str] = str
) -> Numbers:
    return {
        query(name): {item(each): value for each, value in own.items()}
        for name, own in numbers.items()
    }


def negated(run: Numbers) -> Numbers:
    return {query: {item: 10 - score for item, score in own.items()} for query, own in run.items()}


def constant(run: Numbers, score: float) -> Numbers:
    return {query: dict.fromkeys(own, score) for query, own in run.items()}


RIGHT = {"q": qrels(GRADES), "r": trec(RUN)}
FILES: dict[str, dict[str, str]] = {
    "ranks and scores swapped": {"r": trec(RUN, "{query} Q0 {item} {score} {rank} t")},
    "ranks in place of scores": {"r": trec(RUN, "{query} Q0 {item} {rank} {rank} t")},
    "distances with ranks": {"r": trec(negated(RUN))},
    "distances without ranks": {"r": trec(negated(RUN), "{query} Q0 {item} 0 {score} t")},
    "distances, one query": {"r": trec({"1": negated(RUN)["1"]}), "q": qrels({"1": GRADES["1"]})},
    "distances in any order of lines": {
        "r": trec(negated(RUN), "{query} Q0 {item} 0 {score} t", backwards=True)
    },
    "distances in JSON": {"r": json.dumps(negated(RUN))},
    "distances in CSV with ranks": {
        "r": csv(negated(RUN), "{query},{item},{rank},{score}", "query,item,rank,score")
    },
    "ranks and scores swapped in CSV": {
        "r": csv(RUN, "{query},{item},{score},{rank}", "query,item,rank,score")
    },
    "distances in CSV": {"r": csv(negated(RUN))},
    "most queries missing": {"r": trec({query: RUN[query] for query in "123"})},
    "most queries missing, both": {"r": trec({query: RUN[query] for query in "123"})},
    "another split": {"r": trec(renamed(RUN, "split{0}-{0}".format))},
    "queries that differ by case": {
        "q": qrels(renamed(GRADES, "Q{}".format)),
        "r": trec(renamed(RUN, "q{}".format)),
    },
    "some queries with leading zeros": {"r": trec(renamed(RUN, lambda each: each.zfill(2)))},
    "all queries with leading zeros": {"r": trec(renamed(RUN, lambda each: each.zfill(4)))},
    "queries with a blank": {
        "r": json.dumps(renamed(RUN, lambda each: f"{each} " if int(each) > 3 else each))
    },
    "queries in quotes": {"q": qrels(renamed(GRADES, '"{}"'.format))},
    "queries that became floats": {"r": csv(renamed(RUN, "{}.0".format))},
    "queries with a prefix": {"r": trec(renamed(RUN, "topic-{}".format))},
    "items that differ by case": {"r": trec(renamed(RUN, item=str.upper))},
    "items with leading zeros": {
        "q": qrels(NUMBERED),
        "r": trec(renamed(NUMBERED, item=lambda each: each.zfill(6))),
    },
    "items that became floats": {
        "q": qrels(NUMBERED),
        "r": csv(renamed(NUMBERED, item="{}.0".format)),
    },
    "items with a prefix": {
        "q": qrels(NUMBERED),
        "r": trec(renamed(NUMBERED, item="doc{}".format)),
    },
    "items with extensions": {"r": trec(renamed(RUN, item="{}.jpg".format))},
    "items with other extensions": {
        "q": qrels(renamed(GRADES, item="{}.txt".format)),
        "r": trec(renamed(RUN, item="{}.md".format)),
    },
    "items in folders": {"r": csv(renamed(RUN, item="images/val/{}".format))},
    "items of another collection": {"r": trec(renamed(RUN, item="x{}".format))},
    "all grades are 0": {"q": qrels(constant(GRADES, 0))},
    "grades are shares": {"q": qrels(constant(GRADES, 0.5))},
    "judgments and run swapped": {},
    "judgments and run swapped in JSON": {"q": json.dumps(GRADES), "r": json.dumps(RUN)},
    "no tag": {"r": trec(RUN, "{query} Q0 {item} {rank} {score}")},
    "Q0 and item swapped": {"r": trec(RUN, "{query} {item} Q0 {rank} {score} t")},
    "0 and item swapped": {"q": qrels(GRADES, "{query} {item} 0 {grade:g}")},
    "0 and item swapped, one item each": {
        "q": qrels({each: {f"d{each}a": 1} for each in QUERIES}, "{query} {item} 0 {grade:g}")
    },
    "query and item swapped": {"r": trec(RUN, "{item} Q0 {query} {rank} {score} t")},
    "query and item swapped, few judged": {
        "q": qrels({f"t-{query}": {f"d-{query}-1": 1} for query in QUERIES}),
        "r": trec(
            {
                f"t-{query}": {f"d-{query}-{at}": 9.5 - at for at in range(1, 9)}
                for query in QUERIES
            },
            "{item} Q0 {query} {rank} {score} t",
        ),
    },
    "query and item swapped in the judgments": {"q": qrels(GRADES, "{item} 0 {query} {grade:g}")},
    "equal scores": {"r": trec(constant(RUN, 1))},
    "an item twice": {"r": trec(RUN) + "1 Q0 d1a 9 0.5 t\n"},
    "a run twice": {},
    "a copy of a run": {"copy": trec(RUN)},
    "a score is NaN": {"r": trec(RUN) + "1 Q0 x 9 nan t\n"},
    "a header": {"r": "query Q0 item rank score tag\n" + trec(RUN)},
    "a line is cut off": {"r": trec(RUN)[:-9]},
    "an empty run": {"r": ""},
    "a web page": {"r": "<!DOCTYPE html><p>Not found</p>"},
    "check, swapped columns": {"r": trec(RUN, "{query} Q0 {item} {score} {rank} t")},
    "check, swapped columns, the row": {"r": trec(RUN, "{query} Q0 {item} {score} {rank} t")},
    "check, an item twice": {"r": trec(RUN) + "1 Q0 d1a 9 0.5 t\n"},
    "check, distances": {"r": csv(negated(RUN))},
    "check, distances, strict": {"r": csv(negated(RUN))},
    "check, a tie": {"r": trec(RUN) + "1 Q0 x 9 9.5 t\n"},
    "check, a missing query": {"r": trec({each: RUN[each] for each in QUERIES[1:]})},
    "check, a missing query, strict": {"r": trec({each: RUN[each] for each in QUERIES[1:]})},
    "check, no common query": {"r": trec(renamed(RUN, lambda each: each.zfill(4)))},
    "check, query and item swapped": {"r": trec(RUN, "{item} Q0 {query} {rank} {score} t")},
    "check, all grades are 0": {"q": qrels(constant(GRADES, 0))},
    "check, a copy": {"copy": trec(RUN)},
    "check, an empty file": {"q": ""},
}
"""The files of each mistake; those that are not named are right."""
TABLE = [
    line.split(" | ")
    for line in (Path(__file__).parent / "mistakes.md").read_text(encoding="utf-8").splitlines()
    if " | " in line
]
MISTAKES = {
    name.removeprefix("| "): (line.strip("`"), int(code), said.removesuffix(" |"))
    for name, line, code, said in TABLE[1:]
}


def call(folder: Path, files: dict[str, str], line: str, monkeypatch: pytest.MonkeyPatch) -> int:
    for name, text in (RIGHT | files).items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["rankwell", *line.split()])
    return cli.main()


def test_every_mistake_of_the_table_has_files():
    assert list(MISTAKES) == list(FILES)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_common_mistake_is_reported_by_its_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    line, expected, sentence = MISTAKES[name]

    code = call(tmp_path, FILES[name], line, monkeypatch)

    streams = capsys.readouterr()
    before = re.compile(r"^(rankwell: |! |(error|warning|info): )")
    behind = re.compile(r" (\(`rankwell explain [\w, -]+`\)|\[[\w-]+\])$")
    said = [
        behind.sub("", before.sub("", " ".join(each.split())))
        for each in (streams.out + streams.err).splitlines()
    ]
    assert sentence in said
    assert code == expected


@pytest.mark.parametrize(
    "line",
    [
        "evaluate q r",
        "evaluate q r --average-over both --ties expected",
        "check q r --ignore unjudged-in-top --ignore equal-values",
        "check q r --strict --ignore unjudged-in-top --ignore equal-values",
    ],
)
def test_files_without_a_mistake_have_no_sentence_and_exit_0(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    code = call(tmp_path, {}, line, monkeypatch)

    streams = capsys.readouterr()
    known = (
        "read as",
        " alike: ",
        "every query has the same value",
        "more finding",
        "interval",
        " is between ",
    )
    notes = [each for each in streams.err.splitlines() if not any(words in each for words in known)]
    found = [line for line in streams.out.splitlines() if "warning: " in line]
    assert (code, notes, found) == (0, [], [])
    if line.startswith("check"):
        assert streams.out.splitlines()[0] == "No errors, 0 warnings."


def test_the_sentences_are_notes_in_python():
    late = rw.evaluate(GRADES, {"mine": negated(RUN)}, "RR").findings
    few = rw.evaluate(GRADES, {"mine": {query: RUN[query] for query in "123"}}, "RR").findings

    assert [
        each
        for each in late
        if each.startswith("mine: its relevant items are near the ends of its lists")
    ]
    assert [
        each
        for each in few
        if each.startswith("mine: it has 3 of the 20 judged queries; the others count as 0.")
    ]
    assert said(rw.evaluate(GRADES, {"mine": RUN}, "RR")) == []


def test_check_finds_what_evaluate_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys):
    for name in FILES:
        line, code, sentence = MISTAKES[name]
        if line == "evaluate q r" and code == 0:
            call(tmp_path, FILES[name], "check q r --verbose", monkeypatch)
            lines = capsys.readouterr().out.splitlines()
            assert any(
                f": {sentence} [" in line.replace(" in `evaluate` [", " [") for line in lines
            ), name


def test_what_did_not_occur_is_not_in_a_check():
    found = rw.check(GRADES, {"mine": RUN})
    assert Fact("mine", "queries", 20, "8 items each") in found.facts
    assert {finding.name for finding in found.warnings} <= {"unjudged-in-top", "equal-values"}


def test_a_run_in_random_order_is_hardly_ever_taken_for_distances():
    random = Random(19)
    false = 0
    for _ in range(300):
        n, depth = random.choice([10, 30, 100]), random.choice([2, 5, 50])
        run = {
            str(query): {f"d{item}": random.random() for item in range(depth)} for query in range(n)
        }
        grades = {
            query: dict.fromkeys(random.sample(sorted(own), random.randint(1, 2)), 1)
            for query, own in run.items()
        }
        false += any(
            "near the ends" in each
            for each in rw.evaluate(grades, run, "RR", intervals="none").findings
        )
    assert false == 0


@pytest.mark.parametrize("levels", [1, 3, 1000])
def test_runs_of_any_skill_are_not_reported(levels: int):
    random = Random(levels)
    for skill in (0.0, 0.2, 1.0):
        grades = {
            f"q{query}": {
                f"d{item}": random.choice([0, 0, 1, 3]) for item in random.sample(range(40), 12)
            }
            for query in range(25)
        }
        scores = {
            query: {
                f"d{item}": skill * own.get(f"d{item}", 0) + random.randrange(levels + 1) / levels
                for item in range(40)
            }
            for query, own in grades.items()
        }
        assert said(rw.evaluate(grades, {"mine": scores}, "RR", intervals="none")) == []


def test_ids_of_other_things_are_not_two_notations():
    grades = {"q": {"val/1.png": 1, "xml.dom": 1, "test-1": 2}}

    notes = said(
        rw.evaluate(
            grades,
            {"mine": {"q": {"train/1.png": 3, "xml": 2, "train-1": 1}}},
            "RR",
            intervals="none",
        )
    )

    assert [each.partition(" (")[0] for each in notes] == [
        "mine: none of its items is judged for its query"
    ]


def test_real_runs_are_not_reported(shared: Path):
    folder = shared / "trec" / "robust03"
    runs = [str(path) for path in sorted(folder.glob("*.run.gz"))]

    assert said(rw.evaluate(str(folder / "qrels.txt.gz"), runs, "RR", intervals="none")) == []


def test_the_runs_of_the_demo_are_not_reported(tmp_path: Path):
    files = prepare(tmp_path)

    assert said(rw.evaluate(files.qrels, list(files.runs), "RR", intervals="none")) == []
