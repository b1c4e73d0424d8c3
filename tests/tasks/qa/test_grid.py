"""Grids of answering systems: what a grid file means, what is run again, and what is written."""

import csv
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rankwell.comparison.bench import source_of
from rankwell.comparison.bench.files import read_experiment
from rankwell.data.findings.kinds import reading_choice
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.reporting.charts import draw_all
from rankwell.reporting.line_charts import MOST_LINES, parameter_chart
from rankwell.tasks.qa.answer_pairs import Predictions
from rankwell.tasks.qa.formats import read_predictions, read_questions
from rankwell.tasks.qa.grid import PointResult, figures_of, main_figures, run_grid, wide

GOLD = {
    "version": "v2.0",
    "data": [
        {
            "title": "t",
            "paragraphs": [
                {
                    "context": "The sky is blue. Grass is green.",
                    "qas": [
                        {
                            "id": "q1",
                            "question": "What is blue?",
                            "answers": [{"text": "The sky", "answer_start": 0}],
                        },
                        {
                            "id": "q2",
                            "question": "What is green?",
                            "answers": [{"text": "Grass", "answer_start": 17}],
                        },
                    ],
                }
            ],
        }
    ],
}

ENGINE = '''
from pathlib import Path

import numpy as np

from rankwell.tasks.qa.answer_pairs import Predictions
from rankwell.data.rankings import Ranking


def answer(questions, *, right, depth=1, note="none"):
    """Answers the first `right` questions rightly; every call leaves a line in calls.txt."""
    with Path("calls.txt").open("a") as log:
        log.write(f"{right} {depth} {note}\\n")
    n = len(questions.ids)
    texts = tuple(questions.answers[i] if i < right else None for i in range(n))
    offsets, unknown = np.arange(n + 1), np.full(n, -1)
    scores = np.array([float(right)] * (n - 1) + [float("nan")])
    predictions = Predictions(questions.ids, offsets, texts, (None,) * n, unknown, unknown, scores)
    return Ranking.from_dict({"q1": {"t#0": 0.1}, "q2": {}}), predictions


def wrong(questions):
    return 3


def fails(questions):
    raise RuntimeError("out of cards")
'''


def evaluate(
    gold: Any, predictions: Any = None, *, retrieved: Any = None, k: int = 5, unit: str = "share"
) -> SimpleNamespace:
    """Exact matches by hand, and how many questions have documents: a stand-in that shares nothing
    with the real evaluation.
    """
    questions = read_questions(gold).table
    rows: list[dict[str, Any]] = []
    if predictions is not None:
        table = (
            predictions
            if isinstance(predictions, Predictions)
            else read_predictions(predictions).table
        )
        firsts = {name: table.texts[table.offsets[place]] for place, name in enumerate(table.ids)}
        right = [
            firsts.get(name) == questions.answers[place] for place, name in enumerate(questions.ids)
        ]
        rows.append(row("em", sum(right) / len(right), unit) | {"k": k})
    if retrieved is not None:
        rows.append(
            row(
                "recall",
                sum(int(size > 0) for size in retrieved.offsets[1:] - retrieved.offsets[:-1]) / 2,
                unit,
            )
        )
    return SimpleNamespace(summary=rows, findings=(reading_choice("one thing to say"),))


def row(label: str, mean: float | None, unit: str = "share") -> dict[str, Any]:
    return {"run": "x", "measure": label.upper(), "label": label, "mean": mean} | {
        "sd": None,
        "ci_low": None,
        "ci_high": None,
        "n": 2,
        "unit": unit,
    }


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder with questions, an engine and a function that writes a grid."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    (tmp_path / "grid_engine.py").write_text(ENGINE)

    def write(text: str) -> Path:
        (tmp_path / "grid.toml").write_text(text.replace("@", QUESTIONS).replace("$", SYSTEM))
        return tmp_path / "grid.toml"

    return write


Write = Callable[[str], Path]
QUESTIONS = '[[dataset]]\nname = "questions"\ncommand = "qa"\ngold = "gold.json"\n'
SYSTEM = '[[system]]\nname = "a"\n'
LIVE = """
[parameters]
right = [0, 1, 2]
@
vary = { k = [1, 5] }
[[system]]
name = "live"
call = "./grid_engine.py:answer"
"""


def run(path: Path, judge: Callable[..., Any] = evaluate) -> list[PointResult]:
    return run_with(judge, path)


def run_with(judge: Callable[..., Any], path: Path, **options: Any) -> list[PointResult]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rankwell.tasks.qa.grid.evaluate_qa", judge)
        return list(run_grid(read_experiment(path), Path("out"), **options))


def calls() -> list[str]:
    return Path("calls.txt").read_text().splitlines() if Path("calls.txt").exists() else []


def means(done: list[PointResult], label: str) -> dict[str, float]:
    return {
        each.point.run: next(row["mean"] for row in each.rows if row["label"] == label)
        for each in done
    }


def test_every_combination_is_a_point_named_by_what_varies(world: Write):
    grid = read_experiment(
        world(
            """
            [parameters]
            k_reader = [1, 5]
            @
            k = 3
            [[system]]
            name = "a"
            call = "m:f"
            parameters = { fold = [true, false], model = "x" }
            [[system]]
            name = "b"
            predictions = "runs/{k_reader}.json"
            """
        )
    )

    assert [cell.system for cell in grid.cells] == [
        "a k_reader=1 fold=true",
        "a k_reader=1 fold=false",
        "a k_reader=5 fold=true",
        "a k_reader=5 fold=false",
        "b k_reader=1",
        "b k_reader=5",
    ]
    assert grid.cells[0].parameters == {"k_reader": 1, "fold": True, "model": "x"}
    assert {name: each.value for name, each in grid.cells[0].options.items()} == {
        "gold": "gold.json",
        "k": 3,
    }
    assert [cell.options["predictions"].value for cell in grid.cells[4:]] == [
        "runs/1.json",
        "runs/5.json",
    ]


def test_what_was_answered_is_evaluated_in_every_way_and_answered_once(world: Write):
    done = run(world(LIVE))

    assert means(done, "em") == {
        "live right=0 k=1": 0.0,
        "live right=0 k=5": 0.0,
        "live right=1 k=1": 0.5,
        "live right=1 k=5": 0.5,
        "live right=2 k=1": 1.0,
        "live right=2 k=5": 1.0,
    }
    assert set(means(done, "recall").values()) == {0.5}
    assert calls() == ["0 1 none", "1 1 none", "2 1 none"]


def test_a_killed_run_goes_on_where_it_was(world: Write):
    path = world(LIVE)
    seen = 0

    def dies(*arguments: Any, k: int = 5, **more: Any) -> SimpleNamespace:
        nonlocal seen
        seen += 1
        if seen == 4:
            raise KeyboardInterrupt
        return evaluate(*arguments, k=k, **more)

    with pytest.raises(KeyboardInterrupt):
        run(path, dies)
    first = calls()
    done = run(path)

    assert first == ["0 1 none", "1 1 none"]
    assert calls() == [*first, "2 1 none"]
    assert [each.reused for each in done] == [True, True, True, False, False, False]
    whole = [(each.point.run, each.rows, each.findings) for each in done]
    assert whole == [(each.point.run, each.rows, each.findings) for each in run(path)]


def test_what_is_kept_comes_back_unchanged(world: Write):
    path = world(
        '@[[system]]\nname = "live"\ncall = "./grid_engine.py:answer"\nparameters = { right = 1 }\n'
    )
    seen: list[Any] = []

    def keep(gold: Any, predictions: Any, *, retrieved: Any, note: str = "") -> SimpleNamespace:
        seen.append((predictions, retrieved))
        return evaluate(gold, predictions, retrieved=retrieved)

    run(path, keep)
    again = world(
        '@note = "other"\n[[system]]\nname = "live"\ncall = '
        '"./grid_engine.py:answer"\nparameters = { right = 1 }\n'
    )
    run(again, keep)
    (one, found), (other, refound) = seen

    assert len(calls()) == 1
    assert (one.ids, one.texts, one.documents) == (other.ids, other.texts, other.documents)
    assert one.offsets.tolist() == other.offsets.tolist()
    assert other.scores[0] == 1.0
    assert math.isnan(other.scores[1])
    assert other.no_answer is None
    assert (found.queries, list(found.items), found.scores.tolist()) == (
        refound.queries,
        list(refound.items),
        [0.1],
    )


@pytest.mark.parametrize(
    "content", ["[]", "null", "{}", '{"rows": 3}', "[" * 100_000, '{"record_digest": []}']
)
def test_what_is_kept_but_changed_is_evaluated_again(world: Write, content: str):
    path = world(
        '@[[system]]\nname = "live"\ncall = "./grid_engine.py:answer"\nparameters = { right = 1 }\n'
    )
    first = run(path)
    kept = [each for folder in ("rows", "answers") for each in Path.cwd().rglob(f"{folder}/*.json")]

    for each in kept:
        each.write_text(content)
    again = run(path)

    assert len(kept) == 2
    assert not any(each.reused for each in again)
    assert [each.rows for each in again] == [each.rows for each in first]


@pytest.mark.parametrize(
    "changed", ["gold", "engine", "module", "package", "lazy", "parameter", "file", "name"]
)
def test_what_decides_a_figure_decides_whether_it_is_kept(
    world: Write, changed: str, tmp_path: Path
):
    (tmp_path / "note.txt").write_text("first")
    text = (
        '@[[system]]\nname = "live"\ncall = "./grid_engine.py:answer"\nparameters = { right = 1, '
        'note = "note.txt" }\n'
    )
    imports = (
        "\nif not True:\n    import grid_helper\n\n\ndef late():\n    from grid_lazy import x\n"
    )
    (tmp_path / "grid_engine.py").write_text(ENGINE + imports)
    (tmp_path / "grid_helper.py").write_text("from grid_parts.one import x\n")
    (tmp_path / "grid_lazy.py").write_text("x = 1\n")
    (tmp_path / "grid_parts").mkdir()
    (tmp_path / "grid_parts" / "one.py").write_text("x = 1\n")
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    run(world(text))
    (tmp_path / "unrelated.py").write_text("x = 2\n")

    if changed == "gold":
        (tmp_path / "gold.json").write_text(json.dumps(GOLD).replace("blue", "grey"))
    elif changed == "engine":
        (tmp_path / "grid_engine.py").write_text(ENGINE + imports + "\n# improved\n")
    elif changed in ("module", "package", "lazy"):
        names = {"module": "grid_helper.py", "package": "grid_parts/one.py", "lazy": "grid_lazy.py"}
        (tmp_path / names[changed]).write_text("x = 2\n")
    elif changed == "parameter":
        text = text.replace("right = 1", "right = 2")
    elif changed == "file":
        (tmp_path / "note.txt").write_text("second")
    else:
        text = text.replace('"live"', '"renamed"')
    (done,) = run(world(text))

    # Only a name decides nothing.
    assert done.reused is (changed == "name")
    assert len(calls()) == (1 if changed == "name" else 2)


def test_the_source_of_a_package_is_all_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    inner = tmp_path / "grid_package" / "deep"
    inner.mkdir(parents=True)
    (inner.parent / "__init__.py").write_text("")
    (inner / "__init__.py").write_text("")
    __import__("grid_package.deep")

    before = source_of("grid_package.deep")
    (inner / "more.py").write_text("x = 1")

    assert source_of("grid_package.deep") != before


def test_a_data_set_of_another_task_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from rankwell import cli

    monkeypatch.chdir(tmp_path)
    Path("gold.json").write_text("{}")
    system = "[[system]]\nname = 'a'\ncall = 'rankwell.tasks.qa.answering:bm25_overlap'\n"
    Path("grid.toml").write_text(
        f"[[dataset]]\nname = 'd'\ncommand = 'keywords'\ngold = 'gold.json'\n{system}"
    )
    monkeypatch.setattr("sys.argv", ["rankwell", "bench", "grid.toml"])

    assert cli.main() == 2
    assert "is 'keywords'; `call` or [chart] is for command = 'qa'" in capsys.readouterr().err


def test_jobs_change_nothing(world: Write, monkeypatch: pytest.MonkeyPatch):

    path = world(LIVE.replace("vary", "convention = 'squad2'\nintervals = 'none'\nvary"))
    alone = list(run_grid(read_experiment(path), Path("one")))
    done = list(run_grid(read_experiment(path), Path("two"), jobs=2))

    assert [(each.point, each.rows, each.findings) for each in done] == [
        (each.point, each.rows, each.findings) for each in alone
    ]
    # The points of one system and its parameters share its answers.
    assert sorted(calls()) == sorted(2 * ["0 1 none", "1 1 none", "2 1 none"])


def test_result_files_are_points_too(world: Write, tmp_path: Path):
    (tmp_path / "runs").mkdir()
    for right in (1, 2):
        answers = {"q1": "The sky", "q2": "Grass" if right == 2 else "Moss"}
        (tmp_path / "runs" / f"n{right}.json").write_text(json.dumps(answers))
    path = world(
        '@[[system]]\nname = "old"\npredictions = "runs/n{right}.json"\nparameters = { right '
        "= [1, 2] }\n"
    )

    done = run(path)
    (tmp_path / "runs" / "n1.json").write_text(json.dumps({"q1": "no", "q2": "no"}))
    again = run(path)

    assert means(done, "em") == {"old right=1": 0.5, "old right=2": 1.0}
    assert means(again, "em") == {"old right=1": 0.0, "old right=2": 1.0}
    assert [each.reused for each in again] == [False, True]
    assert {each.seconds for each in done} == {None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@$[systms]\n", r"grid.toml:7: systms: unknown key; did you mean 'system'"),
        ("@[parameters]\nk = 1\n", r"no \[\[system\]\]"),
        ("@$call = 3\n", r"grid.toml:7: system 'a': call is 3; expected a string"),
        ("system = 3\n@", r"system is not a list of tables"),
        (
            "@$call = 'm:f'\nparameters = { k = [] }\n",
            r"grid.toml:8: system 'a': parameters: k is an empty",
        ),
        (
            "@$parameters = { k = [[1]] }\n",
            r"system 'a': parameters: k is \[1\]; expected strings, numbers",
        ),
        ("@$parameters = { k = [1, 2, 1] }\n", r"parameters: k lists a value twice: \[1, 2, 1\]"),
        (
            "@$call = 'm:f'\nparameters = { k = [1, '1'] }\n",
            "two cells are named 'questions/a k=1'",
        ),
        (
            "@$parameters = { day = 2020-01-01 }\n",
            r"system 'a': parameters: day is datetime.date\(",
        ),
        (
            "@$retrieved = 'r{kk}.run'\nparameters = { k = 1 }\n",
            "retrieved: unknown parameter 'kk'; did you mean 'k'",
        ),
        ("@$retrieved = 'r.run'\nparameters = { k = 1 }\n", r"no option of questions/a holds {k}"),
        (
            "@k = 1\n$call = 'm:f'\nparameters = { k = 1 }\n",
            "parameters: k: 'k' is an option of 'questions' as well",
        ),
        ("[chart]\nmeasures = 'em'\n@$call = 'm:f'\n", "chart.measures is 'em'; expected a list"),
        ("[[system]\n", r"grid.toml is not valid TOML: .*line 1"),
    ],
)
def test_a_grid_that_cannot_be_understood_is_refused_by_file_and_key(
    world: Write, text: str, message: str
):
    with pytest.raises(BadInput, match=message):
        read_experiment(world(text))


def test_a_grid_needs_its_questions(tmp_path: Path):
    file = "[[dataset]]\nname = 'q'\ncommand = 'qa'\n[[system]]\nname = 'a'\ncall = 'm:f'\n"
    (tmp_path / "grid.toml").write_text(file)

    with pytest.raises(BadInput, match=r"dataset 'q': gold is missing; expected a string"):
        run(tmp_path / "grid.toml")
    second = "gold = 'g'\n[[dataset]]\nname = 'r'\ncommand = 'x'\n[[system]]"
    (tmp_path / "grid.toml").write_text(file.replace("[[system]]", second))
    with pytest.raises(BadInput, match=r"grid.toml: 2 data sets; a grid has one"):
        run(tmp_path / "grid.toml")
    with pytest.raises(BadInput, match="no such file"):
        read_experiment(tmp_path / "other.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "@kk = 1\n$call = './grid_engine.py:wrong'\n",
            r"grid.toml:5: .*: kk: unknown option; did .*'k'",
        ),
        ("@$", r"grid.toml:5: system 'a' has neither a call nor files; give `call`"),
        ("@$call = 'm:f'\nretrieved = 'x'\n", "system 'a' has both a call and files"),
        (
            "@$cal = 'm:f'\nretrieved = 'gold.json'\n",
            r"grid.toml:7: system 'a': cal: unknown option; known are",
        ),
        ("@$call = 'm:f'\nparameters = { mean = 1 }\n", "a parameter cannot be named 'mean'"),
        ("@$call = './grid_engine.py:answr'\n", r"system 'a': call: .*did you mean 'answer'"),
        (
            "@$call = './grid_engine.py:answer'\n",
            r"system 'a': ./grid_engine.py:answer cannot be called .*'right'",
        ),
        (
            "@$call = './grid_engine.py:wrong'\nparameters = { x = 1 }\n",
            r"cannot be called with .*'x'",
        ),
        (
            "@$predictions = 'p{x}.json'\nparameters = { x = [1, 2] }\n",
            r"system 'a': predictions: there is no file .*p1.json",
        ),
        (
            "@$call = './grid_engine.py:wrong'\n",
            "grid.toml: a: ./grid_engine.py:wrong returns an integer; expected a Ranking or",
        ),
        (
            "@$call = './grid_engine.py:fails'\n",
            r"a: ./grid_engine.py:fails failed \(RuntimeError: out of cards\)",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(world: Write, text: str, message: str):
    good = (
        "\n[[system]]\nname = 'z'\ncall = './grid_engine.py:answer'\nparameters = { right = 1 }\n"
    )

    with pytest.raises((BadUsage, BadInput), match=message):
        run(world(text + good))
    assert calls() == []


def test_a_row_holds_parameters_figures_and_where_and_when(world: Write):
    rows = wide(run(world(LIVE)))

    first = rows[0]
    names = [
        "run",
        "system",
        "right",
        "k",
        "em",
        "recall",
        "seconds",
        "date",
        "hostname",
        "experiment_id",
    ]
    assert list(first) == names
    assert (first["system"], first["right"], first["k"], first["em"], first["recall"]) == (
        "live",
        0,
        1,
        0.0,
        0.5,
    )
    assert len({row["experiment_id"] for row in rows}) == 6
    assert rows == wide(run(world(LIVE)))
    assert first["date"].endswith("+00:00")


def test_figures_of_one_label_are_distinguished_by_what_differs():
    rows = [row("f1", 0.1) | {"k": 1}, row("f1", 0.2) | {"k": 2}, row("em", 0.3) | {"k": None}]

    assert {name: each["mean"] for name, each in figures_of(rows).items()} == {
        "f1 (k=1)": 0.1,
        "f1 (k=2)": 0.2,
        "em": 0.3,
    }


def test_a_parameter_with_the_name_of_a_figure_is_refused(world: Write, tmp_path: Path):
    (tmp_path / "1.json").write_text(json.dumps({"q1": "The sky"}))
    done = run(world('@$predictions = "{em}.json"\nparameters = { em = 1 }\n'))

    with pytest.raises(BadInput, match="'em' is a parameter and a figure"):
        wide(done)


def chart_rows(
    series: int, values: tuple[Any, ...] = (1, 5), labels: Mapping[str, float] | None = None
) -> list[dict[str, Any]]:
    labels = {"em": 0.1, "recall": 0.2} if labels is None else labels
    return [
        row(label, step + 0.01 * place * (place + number))
        | {"system": f"s{number % 2}", "series": f"s{number % 2} p={number}", "value": value}
        for number in range(series)
        for place, value in enumerate(values)
        for label, step in labels.items()
    ]


def points(panel: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (each["series"], each["value"], round(each["mean"], 6)) for each in panel["data"]["values"]
    ]


def test_a_chart_has_a_panel_for_each_measure_that_moves_and_says_what_it_leaves_out():
    rows = chart_rows(2) + [
        row("still", 0.5) | {"system": "s0", "series": "s0 p=0", "value": value} for value in (1, 5)
    ]

    spec = parameter_chart(rows, "k_reader")

    assert [panel["title"] for panel in spec["concat"]] == ["em", "recall"]
    assert "1 measure that no run moves is left out" in spec["title"]["subtitle"][0]
    assert points(spec["concat"][0]) == [
        ("s0 p=0", 1, 0.1),
        ("s0 p=0", 5, 0.11),
        ("s1 p=1", 1, 0.1),
        ("s1 p=1", 5, 0.12),
    ]
    assert spec["concat"][0]["encoding"]["x"]["axis"]["values"] == [1, 5]
    assert len(parameter_chart(rows[-2:], "k_reader")["concat"]) == 1


def test_many_series_become_points_around_the_median_of_their_system():
    few, many = (
        parameter_chart(chart_rows(MOST_LINES), "k"),
        parameter_chart(chart_rows(MOST_LINES + 1), "k"),
    )

    def line(spec: dict[str, Any]) -> dict[str, Any]:
        return next(
            layer for layer in spec["concat"][0]["layer"] if layer["mark"]["type"] == "line"
        )

    assert "aggregate" not in line(few)["encoding"]["y"]
    assert line(many)["encoding"]["y"]["aggregate"] == "median"
    assert many["concat"][0]["encoding"]["color"]["scale"]["domain"] == ["s0", "s1"]


@pytest.mark.parametrize(
    ("values", "kind", "scale"),
    [
        ((1, 5), "quantitative", "linear"),
        ((1, 5, 100), "quantitative", "log"),
        ((0, 100), "quantitative", "linear"),
        (("porter", "plain"), "ordinal", None),
        ((True, False), "ordinal", None),
        ((1, "all"), "ordinal", None),
    ],
)
def test_numbers_stand_at_their_places_and_other_values_side_by_side(
    values: tuple[Any, ...], kind: str, scale: str | None
):
    spec = parameter_chart(chart_rows(2, values), "k")
    x = spec["concat"][0]["encoding"]["x"]
    picture = draw_all([spec])[0]

    assert (x["type"], x["scale"].get("type")) == (kind, scale)
    assert picture.png.startswith(b"\x89PNG")
    assert "NaN" not in picture.svg
    for value in values:
        assert f">{str(value).lower()}</text>" in picture.svg


def test_ticks_are_written_with_all_their_decimals_and_equal_lines_are_all_to_be_seen():
    rows = [row | {"mean": 0.0 if row["value"] == 1 else 1.0} for row in chart_rows(2)]

    panel = parameter_chart(rows, "k")["concat"][0]
    line = next(layer for layer in panel["layer"] if layer["mark"]["type"] == "line")
    ticks = line["encoding"]["y"]["axis"]

    assert 0.25 in ticks["values"]
    # Vega's `~g` with 12 digits writes a number as it is.
    assert ticks["format"] == ".12~g"
    patterns = line["encoding"]["strokeDash"]["scale"]["range"]
    assert len({tuple(pattern) for pattern in patterns}) == 2
    alone = parameter_chart(chart_rows(1, labels={"em": 0.1}), "k")["concat"][0]
    assert all("strokeDash" not in layer["encoding"] for layer in alone["layer"])


def test_a_chart_of_nothing_is_refused():
    with pytest.raises(NothingToEvaluate, match="no run of the grid has a figure"):
        parameter_chart([row("em", None) | {"system": "s", "series": "s", "value": 1}], "k")


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    from rankwell import cli

    monkeypatch.setattr("sys.argv", ["rankwell", "bench", *arguments])
    return cli.main()


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluation by hand in place of the real one."""
    monkeypatch.setattr("rankwell.tasks.qa.grid.evaluate_qa", evaluate)


def test_the_command_writes_rows_charts_and_where_they_come_from(
    world: Write, judged: None, monkeypatch, capsys
):
    path = world(LIVE)

    assert command(monkeypatch, str(path), "-o", "out") == 0
    out, err = capsys.readouterr()
    rows, summary = (
        list(csv.DictReader(Path(f"out/{name}.csv").read_text().splitlines()))
        for name in ("results", "summary")
    )

    assert "live right=1 k=5" in out
    assert err.count("one thing to say") == 1
    assert "6 of 6 runs: one thing to say" in err
    assert "exact names:\n  em = EM\n" in out
    assert [row["em"] for row in rows] == ["0.0", "0.0", "0.5", "0.5", "1.0", "1.0"]
    assert {(row["run"], row["label"]) for row in summary} == {
        (row["run"], each) for row in rows for each in ("em", "recall")
    }
    for name in ("right", "k"):
        assert Path(f"out/{name}.png").read_bytes().startswith(b"\x89PNG")
        assert Path(f"out/{name}.svg").read_text().startswith("<svg")
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert manifest["runs"] == 6
    assert set(manifest["inputs"]) == {"grid", "gold"}
    assert set(manifest["files"]) == {place.name for place in Path("out").glob("*.*")} - {
        "manifest.json"
    }

    before = {
        place.name: place.read_bytes()
        for place in Path("out").glob("*.*")
        if place.name != "manifest.json"
    }
    assert command(monkeypatch, str(path), "-o", "out") == 0
    assert "6 of 6 runs were done before" in capsys.readouterr().err
    assert before == {
        place.name: place.read_bytes()
        for place in Path("out").glob("*.*")
        if place.name != "manifest.json"
    }


def test_the_command_shows_the_measures_that_the_grid_names(
    world: Write, judged: None, monkeypatch, capsys
):
    path = world('[chart]\nmeasures = ["recall"]\n' + LIVE)

    assert command(monkeypatch, str(path), "-o", "out") == 0
    out = capsys.readouterr().out

    assert "recall" in out
    assert " em" not in out
    assert ">recall</text>" in Path("out/right.svg").read_text()
    assert ">em</text>" not in Path("out/right.svg").read_text()

    assert (
        command(monkeypatch, str(world('[chart]\nmeasures = ["recal"]\n' + LIVE)), "-o", "out") == 2
    )
    assert (
        "chart.measures: unknown measure 'recal'; did you mean 'recall'?" in capsys.readouterr().err
    )


def test_intervals_are_drawn_for_few_series_only():
    def bars(series: int) -> int:
        rows = [
            {**each, "ci_low": each["mean"] - 0.5, "ci_high": each["mean"] + 0.5}
            for each in chart_rows(series)
        ]
        spec = parameter_chart(rows, "k")
        domain = spec["concat"][0]["layer"][0]["encoding"]["y"]["scale"]["domain"]
        drawn = sum(layer["mark"]["type"] == "rule" for layer in spec["concat"][0]["layer"])
        assert ("intervals" in spec["title"]["subtitle"][0]) == bool(drawn) == (domain[0] < 0)
        return drawn

    assert [bars(series) for series in (1, 3, 4)] == [1, 1, 0]


def test_a_system_alone_is_not_named_in_every_line_of_the_chart(
    world: Write, judged: None, monkeypatch, capsys
):
    assert command(monkeypatch, str(world(LIVE)), "-o", "out") == 0
    assert ">k=1</text>" in Path("out/right.svg").read_text()

    more = LIVE + (
        '[[system]]\nname = "other"\ncall = "./grid_engine.py:answer"\nparameters = { depth = 2 }\n'
    )
    assert command(monkeypatch, str(world(more)), "-o", "out") == 0
    assert ">other k=1</text>" in Path("out/right.svg").read_text()


PLAIN = """
def plain(questions, *, wrong=False):
    answers = {"q1": "no" if wrong else questions.answers[0], "q2": ["x", None]}
    return {"q1": {"t#0": 2.0, "t#1": 1.0}}, answers


def listed(questions):
    return {"q1": ("blue",), "q2": None}


def odd(questions):
    return {"q1": 5}
"""


def test_a_callable_may_give_plain_mappings(
    world: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "grid_plain.py").write_text(PLAIN)
    seen: list[tuple[Any, Any]] = []

    def keep(gold: Any, predictions: Any, *, retrieved: Any) -> SimpleNamespace:
        seen.append((predictions, retrieved))
        return SimpleNamespace(summary=[row("em", 1.0)], findings=())

    run(
        world(
            '@$call = "./grid_plain.py:plain"\n[[system]]\nname = "b"\ncall = '
            '"./grid_plain.py:listed"\n'
        ),
        keep,
    )
    (first, found), (second, none) = seen

    assert (list(first.texts[1:]), list(second.texts), none) == (["x", None], ["blue", None], None)
    assert (list(found.items), found.scores.tolist()) == (["t#0", "t#1"], [2.0, 1.0])
    with pytest.raises(
        BadInput, match=r"\./grid_plain\.py:odd answers the question 'q1' by an integer"
    ):
        run(world('@[[system]]\nname = "c"\ncall = "./grid_plain.py:odd"\n'), keep)


def test_fresh_runs_everything_again_and_answers_once(world: Write):
    path = world(LIVE)
    run(path)

    done = run_with(evaluate, path, again=True)

    assert [each.reused for each in done] == [False] * 6
    assert len(calls()) == 6
    assert [each.reused for each in run(path)] == [True] * 6


def test_parameters_of_all_systems_stand_before_the_figures(world: Write, tmp_path: Path):
    (tmp_path / "p.json").write_text(json.dumps({"q1": "blue", "q2": "no"}))
    live = (
        '[[system]]\nname = "live"\ncall = "./grid_engine.py:answer"\nparameters = { right = 1 }\n'
    )
    text = f'@[[system]]\nname = "old"\npredictions = "p.json"\n{live}'

    rows = wide(run(world(text)))

    assert [*rows[0]] == [*rows[1]]
    assert [*rows[0]][:3] == ["run", "system", "right"]
    assert [each["right"] for each in rows] == [None, 1]
    assert [*rows[0]][-1] == "experiment_id"


def test_charts_show_measures_over_all_questions_and_no_thresholds(world: Write):
    (done,) = run(
        world(
            '@[[system]]\nname = "live"\ncall = "./grid_engine.py:answer"\nparameters = { '
            "right = 1 }\n"
        )
    )
    names = (
        "AnswerEM@1",
        "AnswerEM(population='answerable')@1",
        "Best(AnswerEM@1)",
        "BestThreshold(AnswerEM@1)",
        "AnswerAP(oracle)",
    )
    rows = [row(f"figure{place}", 0.5) | {"measure": name} for place, name in enumerate(names)]

    assert main_figures([done._replace(rows=rows)]) == ["figure0"]
    assert main_figures([done._replace(rows=rows[2:])]) == ["figure2", "figure3", "figure4"]


def test_a_folder_keeps_no_chart_of_an_earlier_grid(
    world: Write, judged: None, monkeypatch, capsys
):
    command(monkeypatch, str(world(LIVE)), "-o", "out")
    Path("out/own.txt").write_text("mine")
    less = LIVE.replace("right = [0, 1, 2]", "right = [0]").replace("k = [1, 5]", "k = [1, 3]")

    assert command(monkeypatch, str(world(less)), "-o", "out") == 0

    assert {place.name for place in Path("out").glob("*.png")} == {"k.png"}
    assert Path("out/own.txt").read_text() == "mine"


def test_the_callable_of_the_documentation_runs_beside_bm25(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    guide = Path(__file__).parents[3] / "docs" / "guide" / "question-answering.md"
    script = guide.read_text(encoding="utf-8").split('```python title="my_system.py"\n')[1]
    monkeypatch.chdir(tmp_path)
    Path("my_system.py").write_text(script.partition("```")[0])
    Path("questions.json").write_text(json.dumps(GOLD))
    Path("grid.toml").write_text(
        """
[[dataset]]
name = "questions"
command = "qa"
gold = "questions.json"
depth = 3
convention = "piaf-article"
[dataset.vary]
k = [1, 5]
[[system]]
name = "bm25"
call = "rankwell.tasks.qa.answering:bm25_overlap"
[system.parameters]
k_retriever = [1, 3]
threshold = 0.5
[[system]]
name = "mine"
call = "./my_system.py:run"
parameters = { top = [1, 2] }
"""
    )

    assert command(monkeypatch, "grid.toml") == 0

    rows = list(csv.DictReader(Path("grid-results/results.csv").read_text().splitlines()))
    assert [row["system"] for row in rows] == ["bm25"] * 4 + ["mine"] * 4
    assert all(row["recall"] and row["reader_top1_f1"] for row in rows)
    names = {name for cell in read_experiment("grid.toml").cells for name in cell.parameters}
    assert names == {"k_retriever", "threshold", "top"}


def test_the_folder_of_a_grid_is_one_of_tables_for_whoever_needs_values_of_queries(
    world: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
):
    from rankwell import cli

    (tmp_path / "n1.json").write_text(json.dumps({"q1": "The sky", "q2": "Moss"}))
    path = world(
        '[chart]\nmeasures = ["exact"]\n@convention = "squad2"\n[[system]]\nname = "old"\n'
        'predictions = "n{right}.json"\nparameters = { right = [1] }\n'
    )
    codes = list[int]()

    for words in (
        ["bench", str(path), "-o", "out"],
        ["report", "out"],
        ["compare", "--plan", "out"],
        ["compare", "out"],
    ):
        monkeypatch.setattr("sys.argv", ["rankwell", *words])
        codes.append(cli.main())

    assert codes == [0, 2, 2, 2]
    assert (
        capsys.readouterr().err.count(
            "out has tables, such as results.csv, and no values of single queries; name a"
        )
        == 3
    )
