"""`rankwell qa`: what a user sees of answers and retrieval, and what is written."""

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from answer_forms import (
    SQUAD2_OFFICIAL,
    SQUAD2_OFFICIAL_BY_GROUP,
    lines,
    qa,
    squad,
    squad2_files,
    written,
)
from rankwell import cli
from rankwell.conventions import LabelledMeasure
from rankwell.data.registry import parse_measure
from rankwell.reporting import Terminal
from rankwell.reporting.charts import draw_all
from rankwell.tasks.qa.charts import no_answer_chart, precision_recall_chart
from rankwell.tasks.qa.thresholds import (
    BestThreshold,
    MeasureThreshold,
    PrecisionRecall,
    ThresholdSearch,
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command: its exit code, standard output and standard error."""

    def call(*arguments: Any) -> tuple[int, str, str]:
        words = [
            *map(str, arguments),
            *(() if {"-c", "--convention"} & {*arguments} else ("-c", "piaf")),
        ]
        monkeypatch.setattr("sys.argv", ["rankwell", "qa", *words])
        code = cli.main()
        return code, *capsys.readouterr()

    return call


def impossible(name: str) -> dict[str, Any]:
    return {"id": name, "question": "Which king?", "answers": [], "is_impossible": True}


@pytest.fixture
def world(tmp_path: Path) -> dict[str, Path]:
    """Three questions about one paragraph, ranked answers to them, what was retrieved, and answers
    from the paragraph alone.
    """

    def answer(name: str, text: str | None, start: int | None, rank: int = 1) -> dict[str, Any]:
        end = None if text is None or start is None else start + len(text)
        document = None if text is None else "France#0"
        return {
            "id": name,
            "rank": rank,
            "text": text,
            "document": document,
            "start": start,
            "end": end,
            "score": 1 / rank,
        }

    return {
        "gold": written(tmp_path / "gold.json", squad(qa("q1"), qa("q2"), impossible("q3"))),
        "given": lines(
            tmp_path / "given.jsonl",
            answer("q1", "Paris is", 0),
            answer("q2", "France", 24),
            answer("q2", "Paris", 0, rank=2),
            answer("q3", None, None),
        ),
        "found": written(
            tmp_path / "bm25.run", "q1 Q0 France#0 1 3 x\nq2 Q0 other 1 3 x\nq3 Q0 France#0 1 2 x\n"
        ),
        "alone": lines(
            tmp_path / "alone.jsonl",
            answer("q1", "Paris", 0),
            answer("q2", "Paris", 0),
            answer("q3", None, None),
        ),
    }


def test_details_are_the_summary_then_who_failed_where_and_the_hardest_questions(
    run: Any, world: dict[str, Path]
):
    code, out, err = run(
        world["gold"],
        world["given"],
        "--retrieved",
        world["found"],
        "--isolated",
        world["alone"],
        "--verbose",
    )

    assert code == 0
    places = [
        "bm25   recall  ",
        "given  ",
        "  AnswerAccuracy(no_answer='explicit',population='answerable')@5  ",
        "alone  ",
        "failed     why  ",
        "retriever  document not retrieved  ",
        "query  text  ",
        "q2     Which capital?  retriever  document not retrieved  Paris  France",
        "rules: 3 queries counted, 2 answerable, 1 impossible, 0 missing from the run,",
        "convention=piaf k=5 depth=10 relevance=document",
        "primary-label=reader_top1_accuracy",
    ]
    found = [out.find(each) for each in places]
    assert -1 not in found, places[found.index(-1)]
    assert found == sorted(found)
    assert "no interval below 10 counted queries" in err


def test_other_formats_have_one_table_or_all_of_them(run: Any, world: dict[str, Path]):
    arguments = (world["gold"], world["given"], "--retrieved", world["found"])

    _, text, err = run(*arguments, "--format", "csv")
    rows = list(csv.DictReader(text.splitlines()))
    whole = json.loads(run(*arguments, "--format", "json", "--per-query")[1])
    markdown = run(*arguments, "--format", "md")[1]

    assert "no interval" in err
    assert {row["label"]: row["part"] for row in rows}["mrr"] == "retriever"
    assert [row["label"] for row in rows] == [row["label"] for row in whole["rows"]]
    assert [(row["failed"], row["questions"]) for row in whole["failures"]] == [
        ("retriever", 1),
        ("none", 1),
        ("none", 1),
    ]
    assert whole["hardest"][0]["query"] == "q2"
    assert whole["rules"]["gold"]["impossible"] == 1
    assert {row["query"] for row in whole["per_query"]} == {"q1", "q2", "q3"}
    assert "| retriever | document not retrieved |" in markdown
    assert "characters" not in markdown


def test_the_values_of_single_questions_stand_run_by_run_before_the_means(
    run: Any, world: dict[str, Path]
):
    _, out, _ = run(
        world["gold"],
        world["given"],
        "--retrieved",
        world["found"],
        "--per-query",
        "--verbose",
        "-m",
        "recall",
        "-m",
        "reader_top1_f1",
    )
    table = [line.split() for line in out.partition("\n\n")[0].splitlines()[2:]]

    # Five characters of the eight that were answered are right, all of the right ones among them.
    f1 = f"{2 * 5 / (8 + 5):.4f}"
    assert [line[-2:] for line in table] == [
        *(["1.0000", "–"], ["0.0000", "–"], ["1.0000", "–"]),
        *(["–", f1], ["–", "0.0000"], ["–", "1.0000"]),
    ]


@pytest.mark.parametrize("kind", ["md", "html", "latex"])
def test_the_values_of_single_questions_are_in_every_document(
    run: Any, world: dict[str, Path], kind: str
):
    _, out, _ = run(world["gold"], world["given"], "--per-query", "-f", kind)

    assert all(query in out for query in ("q1", "q2", "q3"))


def test_a_folder_holds_tables_for_a_page_and_charts(
    run: Any, world: dict[str, Path], tmp_path: Path
):
    numbers = written(tmp_path / "na.json", {"q1": 0.2, "q2": 0.9, "q3": 0.7})
    out = tmp_path / "out"

    code, _, err = run(
        world["gold"],
        world["given"],
        "--retrieved",
        world["found"],
        "--na-probs",
        numbers,
        "-o",
        out,
        "--verbose",
    )

    assert code == 0, err
    assert {place.name for place in out.iterdir()} == {
        *(
            f"{name}.{kind}"
            for name in ("intervals", "top_k", "no_answer_curves", "no_answer_numbers")
            for kind in ("png", "svg")
        ),
        *(
            "summary.csv",
            "summary.json",
            "per_query.parquet",
            "details.parquet",
            "queries.parquet",
            "items.parquet",
            "manifest.json",
        ),
        *("top_k.csv", "no_answer_curves.csv"),
    }
    queries = duckdb.sql(
        f"select query, failed, answerable, hardest, title from '{out}/queries.parquet' order "
        "by query"
    ).fetchall()
    assert queries == [
        ("q1", "none", "yes", None, "France"),
        ("q2", "retriever", "yes", 1.0, "France"),
        ("q3", "none", "no", None, "France"),
    ]
    details = duckdb.sql(
        f"select item, rank, state, detail from '{out}/details.parquet' where run = 'given' "
        "and query = 'q2'"
    )
    rows = {
        item: (rank, state, json.loads(detail)) for item, rank, state, detail in details.fetchall()
    }
    assert {item: row[:2] for item, row in rows.items()} == {
        "France": (1, "nonrelevant"),
        "Paris": (2, "relevant"),
    }
    assert rows["Paris"][2]["characters"] == rows["Paris"][2]["right_characters"] == [[0, 5]]
    inputs = json.loads((out / "manifest.json").read_text())["inputs"]
    assert set(inputs) == {"gold", "predictions", "retrieved", "na_probs"}


def test_a_threshold_that_helps_is_named_with_what_it_gains(
    run: Any, world: dict[str, Path], tmp_path: Path
):
    given = written(tmp_path / "texts.json", {"q1": "Paris", "q2": "Paris", "q3": "Louis"})
    numbers = written(tmp_path / "na.json", {"q1": 0.2, "q2": 0.3, "q3": 0.7})

    _, out, _ = run(world["gold"], given, "-c", "squad2", "--na-probs", numbers, "--verbose")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if "exact" in line}

    assert "100.00" in rows["best_exact"]
    assert "0.3000" in rows["best_exact_thresh"]
    assert "100.00" in rows["pr_exact_ap"]


def test_the_numbers_of_real_predictions_are_the_official_ones(run: Any, shared: Path):
    code, out, _ = run(*squad2_files(shared), "--convention", "squad2", "--format", "jsonl")

    assert code == 0
    found = {
        row["label"]: (row["mean"], row["n"], row["unit"])
        for row in map(json.loads, out.splitlines())
    }
    sizes = {"HasAns": 293, "NoAns": 333}
    assert found == {
        **{
            label: (pytest.approx(value, rel=1e-14), 626, "percent")
            for label, value in SQUAD2_OFFICIAL.items()
        },
        **{
            label: (pytest.approx(value, abs=5e-7), sizes[label.partition("_")[0]], "percent")
            for label, value in SQUAD2_OFFICIAL_BY_GROUP.items()
        },
    }


@pytest.mark.parametrize(
    ("gold", "given", "code", "message"),
    [
        ('{"questions": {"q1": "Paris"}}', {"q1": "Paris"}, 2, "gold.json"),
        ('{"data": [{"paragraphs": [{"context": "Par', {"q1": "Paris"}, 2, "gold.json:1"),
        (
            squad(qa("q1", 7)),
            {"q1": "Paris"},
            2,
            "gold.json: data[0].paragraphs[0].qas[0].question is 7; expected a string.",
        ),
        (
            squad(
                {"id": "q1", "question": "?", "answers": [{"text": "Paris", "answer_start": "0"}]}
            ),
            {"q1": "Paris"},
            2,
            'gold.json: data[0].paragraphs[0].qas[0].answers[0].answer_start is "0"; expected '
            "an integer.",
        ),
        (
            squad(qa("q1")),
            {"q0": "Rome", "q1": 5},
            2,
            "given.json: q1 is 5; expected a string, or null for no answer.",
        ),
        (squad(qa("q1")), {"z9": "Paris"}, 4, "none of the 1 questions has a prediction"),
    ],
)
def test_bad_input_is_one_line_with_the_path_inside(
    run: Any, tmp_path: Path, gold: Any, given: Any, code: int, message: str
):
    places = written(tmp_path / "gold.json", gold), written(tmp_path / "given.json", given)

    found, out, err = run(*places, "-c", "squad2")

    assert (found, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_narrow_terminal_gets_short_lines_and_whole_labels(
    run: Any, world: dict[str, Path], monkeypatch: Any
):
    monkeypatch.setattr("rankwell.reporting.terminal_of", lambda *_: Terminal(80, details=True))

    _, out, _ = run(
        world["gold"], world["given"], "--retrieved", world["found"], "--isolated", world["alone"]
    )
    lines = out.splitlines()
    words = {word for line in lines for word in line.split()}

    assert max(map(len, lines)) <= 80
    assert {"reader_top1_accuracy_has_answer", "reader_topk_em_has_answer", "recall"} <= words


def test_the_charts_of_no_answer_numbers_can_be_drawn_and_hold_every_question():
    numbers, answerable = np.array([0.1, 0.1, 0.5, 1.0]), np.array([True, False, True, False])
    ends = PrecisionRecall(
        np.array([np.nan, 1.0]), np.array([1.0, 0.5]), np.array([0.0, 1.0]), 0.75
    )
    em = LabelledMeasure(parse_measure("AnswerEM@1"), "em")
    search = MeasureThreshold(em, 0.25, BestThreshold(0.5, 0.5), ends)
    searched = ThresholdSearch("r", (search,), ends, answerable, numbers, ())
    equal = ThresholdSearch("r", (), None, np.array([True] * 3), np.zeros(3), ())

    histogram = no_answer_chart(searched)
    curve = precision_recall_chart(searched)

    bars = histogram["concat"][0]["data"]["values"]
    for kind in ("2 answerable", "2 impossible"):
        assert sum(bar.get("questions", 0) for bar in bars if bar["kind"] == kind) == 2
    assert [bar["threshold"] for bar in bars if "threshold" in bar] == [0.5, 0.5]
    assert curve["concat"][0]["encoding"]["color"]["scale"]["domain"] == [
        "em (area 0.7500)",
        "oracle (area 0.7500)",
    ]
    for spec in (histogram, curve, no_answer_chart(equal)):
        assert draw_all([spec])[0].png.startswith(b"\x89PNG")
