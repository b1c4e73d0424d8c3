"""The page's data equals what the folder holds, whatever ids look like; its file is one, fixed to
the byte, and safe to open.
"""

import base64
import hashlib
import html
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankwell
from answer_forms import lines, qa, squad, written
from rankwell.cli import main
from rankwell.comparison.pages import write_report
from rankwell.data.matrices import ScoredPairs
from rankwell.data.options import overwriting
from rankwell.errors import BadInput, BadUsage
from rankwell.io.result_folder import read_results
from rankwell.reporting import charts
from rankwell.reporting.folder import DETAIL_TYPES, write_parquet, write_result
from rankwell.reporting.options import present
from rankwell.reporting.page import (
    MOST_QUERIES,
    MOST_RELEVANT,
    MOST_RESULTS,
    document,
    rounded,
    scripts,
)
from rankwell.results import Results
from rankwell.tasks.crossmodal.task import evaluate_crossmodal
from rankwell.tasks.embeddings.evaluation import evaluate_embeddings
from rankwell.tasks.pairs.task import ModelPairs, PairInputs, PairOptions, evaluate_pairs
from rankwell.tasks.qa.evaluation import evaluate_qa
from rankwell.tasks.runs.evaluation import evaluate

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "line\u2028and\u2029paragraph",
    "\u202eright to left \u05d0\u05d1",
    "\U0001f984 & <img src=x onerror=alert(1)>",
    "long" * 500,
    "quo'te\" {{vega}} {{script: data.js}}",
    "\\u003c/script>",
]


def said_on(data: dict) -> list[str]:
    """What a page says on its results."""
    return [finding["message"] for finding in data["findings"]]


@pytest.fixture(autouse=True)
def short_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    """The charts' script takes seconds to make, and so do pictures of charts beside the page; these
    tests are not about them.
    """
    monkeypatch.setattr(
        "rankwell.reporting.charts.draw_all", lambda specs: [charts.Picture(b"", "") for _ in specs]
    )
    monkeypatch.setattr(document, "vega_bundle", lambda: "(() => {window.vegaEmbed = null;})();\n")


class _Elements(HTMLParser):
    """The texts of script and style elements and the attributes of all, as a browser's parser finds
    them.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.policy = self.title = ""
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        told = dict(attrs)
        if tag == "meta" and told.get("http-equiv") == "Content-Security-Policy":
            self.policy = told["content"] or ""
        self._open = tag if tag in ("script", "style", "title") else None
        if tag == "script":
            self.scripts.append((told, ""))
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag: str) -> None:
        self._open = None if tag == self._open else self._open

    def handle_data(self, data: str) -> None:
        if self._open == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        elif self._open == "style":
            self.styles[-1] += data
        elif self._open == "title":
            self.title += data


def elements(path: Path) -> _Elements:
    return _Elements(path.read_text(encoding="utf-8"))


def data_of(path: Path) -> dict[str, Any]:
    (text,) = [text for told, text in elements(path).scripts if told.get("id") == "data"]
    return json.loads(text)


def made(
    folder: Path,
    n: int,
    *,
    runs: int = 2,
    depth: int = 30,
    ids: list[str] | None = None,
    relevant: int = 3,
) -> Path:
    """A result folder of random runs: n queries, lists of so many items, some of the relevant ones
    in no list.
    """
    random = np.random.default_rng(n + 7 * runs)
    names = ids or [f"d{at}" for at in range(2 * depth)]
    queries = (ids or []) + [f"q{at:05}" for at in range(n - len(ids or []))]
    qrels = {
        query: {
            names[at]: int(grade)
            for grade, at in enumerate(
                random.choice(len(names), min(relevant + 1, len(names)), False)
            )
        }
        for query in queries
    }
    found: dict[str, dict[str, dict[str, float]]] = {}
    for run in range(runs):
        asked = queries[run:] if run and n > 20 else queries
        found[f"run {run}"] = {
            query: {
                names[at]: float(round(random.random(), 2))
                for at in random.permutation(len(names))[:depth]
            }
            for query in asked
        }
    result = evaluate(
        qrels,
        found,
        ["nDCG@5", "RR", "P@1", "P@5"],
        details=True,
        queries={each: f"what {each} says" for each in queries},
    )
    keep(result, folder)
    return folder


def keep(result: Results, folder: Path) -> None:
    """What `rankwell evaluate -o` writes, without its charts, which take most of the time."""
    write_result(result, folder, findings=result.findings, charts=False)


def page(folder: Path, **options: Any) -> Path:
    return write_report([folder], folder / "report.html", **options)[0][0]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("small"), 40)


def short(value: float | None) -> float | None:
    """7 significant digits by Python's own formatting."""
    return None if value is None or value != value else float(f"{value:.7g}")


def test_values_are_those_of_the_folder(small: Path) -> None:
    pandas = pytest.importorskip("pandas")
    data = data_of(page(small))
    table = pandas.read_parquet(small / "per_query.parquet")
    names = {(each["name"], each["of"]): at for at, each in enumerate(data["measures"])}
    assert len(names) == 4
    seen = 0
    for row in table.itertuples():
        at = names[row.measure, None]
        value = data["queries"]["values"][at][data["runs"].index(row.run)][
            data["queries"]["id"].index(row.query)
        ]
        assert value == short(row.value)
        assert data["measures"][at]["unit"] == row.unit
        seen += 1
    assert seen == len(table)
    assert (
        sum(
            value is not None for runs in data["queries"]["values"] for run in runs for value in run
        )
        == table.value.notna().sum()
    )


def test_lists_are_those_of_the_folder(small: Path) -> None:
    pandas = pytest.importorskip("pandas")
    data = data_of(page(small))
    table = pandas.read_parquet(small / "details.parquet")
    expected: dict[tuple[str, str], set[tuple[Any, ...]]] = defaultdict(set)
    for row in table.itertuples():
        if row.state == "relevant" or row.rank <= MOST_RESULTS:
            cells = (row.item, short(row.rank), short(row.score), short(row.grade), row.state)
            expected[row.query, row.run].add(cells)
    found: dict[tuple[str, str], set[tuple[Any, ...]]] = defaultdict(set)
    for query, lists in data["lists"].items():
        assert len(lists) == len(data["runs"])
        for run, rows in zip(data["runs"], lists, strict=True):
            ranks = [float("inf") if rank is None else rank for _, rank, *_ in rows]
            assert ranks == sorted(ranks)
            for item, rank, score, grade, state, detail in rows:
                assert detail is None
                found[data["queries"]["id"][int(query)], run].add(
                    (data["items"]["id"][item], rank, score, grade, state)
                )
    assert found == expected
    assert any(rank is None for rows in found.values() for _, rank, *_ in rows), (
        "some relevant item is in no list"
    )
    assert data["shown"]["queries"] == data["shown"]["of"] == 40
    assert data["shown"]["rule"].startswith("All queries have lists")


def test_counts_first_ranks_and_flags(small: Path) -> None:
    pandas = pytest.importorskip("pandas")
    data = data_of(page(small))
    table = pandas.read_parquet(small / "details.parquet")
    queries, cut = data["queries"], 5
    flags: dict[tuple[str, str], set[str]] = defaultdict(set)
    for place, query in enumerate(queries["id"]):
        for run, name in enumerate(data["runs"]):
            mine = table[(table["query"] == query) & (table.run == name)]
            right = mine[mine.state == "relevant"]
            assert queries["relevant"][run][place] == len(right)
            assert queries["first"][run][place] == (
                None if right["rank"].isna().all() else int(right["rank"].min())
            )
            if not mine["rank"].notna().any():
                flags[f"missing from {name}", name].add(query)
            if ((mine.state == "unjudged") & (mine["rank"] <= 10)).any():
                flags["unjudged in top 10", name].add(query)
            scores = {
                rank: score
                for rank, score in zip(mine["rank"], mine.score, strict=True)
                if rank == rank
            }
            tie = mine[mine["rank"].notna() & (mine.score == scores.get(cut))]
            relevant = [
                grade if state == "relevant" else 0
                for grade, state in zip(tie.grade, tie.state, strict=True)
            ]
            if cut + 1 in scores and scores[cut] == scores[cut + 1] and len(set(relevant)) > 1:
                flags[f"tie at rank {cut}", name].add(query)
    told = {
        (name, run): {queries["id"][place] for place in places}
        for name, runs in queries["flags"].items()
        for run, places in zip(data["runs"], runs, strict=True)
        if places
    }
    assert len(set.union(*(flags.pop(("unjudged in top 10", run)) for run in data["runs"]))) == 40
    near = table[table["rank"] <= 10]
    shares = [(run, near[(near.run == run)]) for run in data["runs"]]
    told_of = ", ".join(
        (
            f"{run} {(mine.state == 'unjudged').sum()} of {len(mine)} "
            f"({100 * (mine.state == 'unjudged').mean():.2f} %)"
        )
        for run, mine in shares
    )
    detail = f"Unjudged among the first 10 results, in 40 queries: {told_of}, of the results of "
    text = "93 % of the top 10 unjudged, counted as not relevant"
    detail += "all queries together."
    finding = {"name": "unjudged-in-top", "level": "warning", "message": text}
    assert [each for each in data["findings"] if "sort" in each] == [
        finding | {"detail": detail, "sort": "unjudged"}
    ]
    about = [note for note in said_on(data) if "unjudged" in note and note != text]
    assert [note for note in about if " is between " not in note] == [], (
        "the warning is not a note, too"
    )
    assert told == flags
    assert {name for name, _ in told} == {"missing from run 1", "tie at rank 5"}


def test_means_and_differences_are_those_of_summary_and_compare(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_of(page(small))
    rows = json.loads((small / "summary.json").read_bytes())["rows"]
    assert [
        (data["runs"][each["run"]], data["measures"][each["measure"]]["name"])
        for each in data["summary"]
    ] == [(row["run"], row["measure"]) for row in rows]
    for told, row in zip(data["summary"], rows, strict=True):
        assert (told["mean"], told["low"], told["high"], told["sd"], told["n"]) == tuple(
            row[name] for name in ("mean", "ci_low", "ci_high", "sd", "n")
        )
    sys.argv = ["rankwell", "compare", str(small), "-o", str(tmp_path / "compared"), "-v"]
    assert main() == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == data["verdicts"][0]
    assert f"Next: rankwell report {tmp_path / 'compared'} --open" in said.err
    again = data_of(tmp_path / "compared" / "report.html")
    for name in (
        "verdicts",
        "differences",
        "queries",
        "lists",
        "items",
        "summary",
        "measures",
        "charts",
    ):
        assert again[name] == data[name], name
    first = data["differences"][0]
    own = data["queries"]["values"][first["measure"]]
    pairs = [
        (a, b)
        for a, b in zip(own[first["a"]], own[first["b"]], strict=True)
        if a is not None and b is not None
    ]
    assert first["difference"] == pytest.approx(sum(b - a for a, b in pairs) / len(pairs), abs=1e-6)
    assert first["better"] == sum(b > a for a, b in pairs)
    assert first["worse"] == sum(b < a for a, b in pairs)
    assert first["equal"] == sum(b == a for a, b in pairs)


def test_texts_of_queries_may_be_given_with_the_report(tmp_path: Path) -> None:
    result = evaluate(
        {"q1": {"d1": 1}, "q2": {"d2": 1}},
        {"a": {"q1": {"d1": 2.0}, "q2": {"d1": 1.0}}},
        ["RR"],
        details=True,
    )
    keep(result, tmp_path / "results")
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q2", "text": "where", "kind": "place"}\n{"_id": "q9", "text": "x"}\n'
    )

    queries = data_of(page(tmp_path / "results", queries=str(tmp_path / "queries.jsonl")))[
        "queries"
    ]

    assert queries["text"] == [None, "where"]
    assert list(queries["attributes"]) == ["kind"]
    with pytest.raises(
        BadInput,
        match="none of its 1 ids, such as 'd1', is one of the 2 queries, such as 'q1'; give the",
    ):
        page(tmp_path / "results", queries={"d1": "an item"})


def test_texts_of_queries_hold_for_both_directions(tmp_path: Path) -> None:
    keep(evaluate_crossmodal(np.random.default_rng(0).random((3, 3)), details=True), tmp_path)

    queries = data_of(page(tmp_path, queries={"1": "a caption"}))["queries"]

    assert [
        text for text, name in zip(queries["text"], queries["id"], strict=True) if name == "1"
    ] == ["a caption", "a caption"]
    assert queries["text"].count(None) == 4


def test_groups_have_a_verdict_of_their_own(small: Path, tmp_path: Path) -> None:
    queries = data_of(page(small))["queries"]["id"]
    (tmp_path / "q.tsv").write_text(
        "id\ttext\tkind\n"
        + "".join(f"{q}\tx\t{'even' if at % 4 else 'odd'}\n" for at, q in enumerate(queries))
    )
    qrels, runs = tmp_path / "qrels.txt", [tmp_path / "a.run", tmp_path / "b.run"]
    qrels.write_text("".join(f"{query} 0 right 1\n" for query in queries))
    for at, run in enumerate(runs):
        run.write_text(
            "".join(
                f"{q} Q0 {'right' if (n + at) % 3 else 'wrong'} 1 1.0 t\n"
                for n, q in enumerate(queries)
            )
        )
    sys.argv = [
        "rankwell",
        "compare",
        *map(str, (qrels, *runs)),
        "--queries",
        str(tmp_path / "q.tsv"),
    ]
    sys.argv += ["--group", "kind", "-o", str(tmp_path / "out")]
    assert main() == 0
    data = data_of(tmp_path / "out" / "report.html")
    assert [(each["name"], each["value"], each["n"]) for each in data["groups"]] == [
        ("kind", "even", 30),
        ("kind", "odd", 10),
    ]
    assert all(each["small"] and each["verdict"].endswith(".") for each in data["groups"])
    assert data["queries"]["attributes"]["kind"] == [
        "even" if at % 4 else "odd" for at in range(len(queries))
    ]
    assert data["queries"]["text"] == ["x"] * len(queries)


def test_one_run_has_no_verdict_and_no_differences(tmp_path: Path) -> None:
    data = data_of(page(made(tmp_path, 12, runs=1)))
    assert data["verdicts"] == data["differences"] == data["groups"] == []
    assert data["title"] == "run 0"
    assert [chart["id"] for chart in data["charts"]] == ["k_curves"]


def test_hostile_ids_stay_data(tmp_path: Path) -> None:
    folder = made(tmp_path, 12, ids=HOSTILE, depth=6)
    texts = {each: f"{each} {each}" for each in HOSTILE}
    path = page(folder, documents=texts, title=HOSTILE[0])
    found = elements(path)
    assert len(found.scripts) == 3
    assert found.tags.count("script") == 3
    assert found.title == HOSTILE[0]
    assert not [name for name in found.attributes if name.startswith("on")]
    raw = path.read_text(encoding="utf-8")
    block = raw[raw.index('id="data">') + 10 : raw.index("</script>")]
    assert not set("<\u2028\u2029") & set(block)
    data = json.loads(block)
    assert set(HOSTILE) <= set(data["queries"]["id"])
    assert set(data["items"]["id"]) == set(HOSTILE)
    for item, text in zip(data["items"]["id"], data["items"]["text"], strict=True):
        assert len(text) <= 300
        assert " ".join(texts[item].split()).startswith(text.removesuffix("…"))
    assert raw.count("\r") == 0


def test_a_title_steers_no_tab_of_a_browser() -> None:
    text = document.render_page("{}", "a\x1b\u202e</title>", parted=False)

    assert "<title>a\\x1b\\u202e&lt;/title&gt;</title>" in text


def test_the_policy_allows_what_stands_there_and_nothing_else(small: Path) -> None:
    found = elements(page(small))
    rules = {name: set(rest) for name, *rest in (part.split() for part in found.policy.split(";"))}

    def _hash(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    runs = [text for told, text in found.scripts if told.get("type") != "application/json"]
    assert rules == {
        "default-src": {"'none'"},
        "script-src": {_hash(text) for text in runs},
        "style-src": {_hash(text) for text in found.styles},
        "img-src": {"data:"},
        "base-uri": {"'none'"},
        "form-action": {"'none'"},
    }
    assert len(runs) == 2
    assert len(found.styles) == 1
    assert "style" not in found.attributes
    # The policy comes before whatever it is about.
    text = page(small).read_text(encoding="utf-8")
    assert text.index("Content-Security-Policy") < text.index("<style") < text.index("<script")
    bare = re.sub(r'<pre id="licences" hidden>[^<]*</pre>', "", text)
    assert not re.search(r"https?://(?!www\.w3\.org|vega\.github\.io)", bare)


def test_at_most_500_queries_by_the_stated_rule(tmp_path: Path) -> None:
    data = data_of(page(made(tmp_path, 720, depth=8, relevant=2)))
    chosen = sorted(map(int, data["lists"]))
    assert len(chosen) == MOST_QUERIES == data["shown"]["queries"]
    assert data["shown"]["of"] == 720
    rule = data["shown"]["rule"]
    apart, worst, best, drawn = (
        int(number) for number in re.findall(r"(?:the |and the |, )(\d+)", rule)[:4]
    )
    assert apart + worst + best + drawn == MOST_QUERIES
    exact = [
        each
        for each in read_results(tmp_path).values
        if each.measure == data["measures"][0]["name"]
    ]
    known = [dict(zip(each.queries, each.values, strict=True)) for each in exact]
    first = np.array(
        [[mine.get(query, np.nan) for query in data["queries"]["id"]] for mine in known]
    )
    spread, mean = np.nan_to_num(np.abs(first[0] - first[1])), np.nanmean(first, axis=0)
    ranks = [[np.inf if rank is None else rank for rank in run] for run in data["queries"]["first"]]
    late, rest = -np.mean(ranks, axis=0), list(range(720))
    for key, further, most in (
        (-spread, 0 * mean, apart),
        (mean, late, worst),
        (-mean, 0 * mean, best),
    ):
        taken = sorted(rest, key=lambda at: (round(key[at], 12), further[at], at))[:most]
        assert set(taken) <= set(chosen)
        rest = [at for at in rest if at not in taken]
    assert len(set(rest) & set(chosen)) == drawn
    assert "at random (seed 0)" in rule


def test_of_equally_bad_queries_those_with_the_latest_relevant_result_have_lists(
    tmp_path: Path,
) -> None:
    ranks = {f"q{number:03}": 2 + number % 7 for number in range(700)}
    run = {query: {f"i{place}": -float(place) for place in range(1, 9)} for query in ranks}
    truth = {query: {f"i{rank}": 1} for query, rank in ranks.items()}
    keep(evaluate(truth, {"a": run}, ["Success@1"], details=True), tmp_path)

    data = data_of(page(tmp_path))

    assert {
        data["queries"]["id"].index(query) for query, rank in ranks.items() if rank == 8
    } <= set(map(int, data["lists"]))


def test_many_relevant_items_are_cut_as_stated(tmp_path: Path) -> None:
    names = [f"d{at}" for at in range(MOST_RELEVANT + 150)]
    result = evaluate(
        {"q": dict.fromkeys(names, 1)},
        {"a": {"q": {"d0": 2.0, "other": 1.0}}},
        ["P@5"],
        details=True,
    )
    keep(result, tmp_path)
    data = data_of(page(tmp_path))
    ((rows,),) = data["lists"].values()
    assert [row[1] for row in rows[:3]] == [1, 2, None]
    assert len(rows) == 2 + MOST_RELEVANT
    assert str(MOST_RELEVANT) in data["shown"]["rule"]
    assert data["queries"]["relevant"] == [[len(names)]] * len(data["runs"])


def test_large_data_move_beside_the_page(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = data_of(page(small))
    folder = made(tmp_path / "results", 40)
    monkeypatch.setattr(document, "PART_BYTES", 20_000)
    real = document.write_page
    monkeypatch.setattr(
        "rankwell.comparison.pages.write_page",
        lambda path, source: real(path, source, most_bytes=30_000),
    )
    texts = {item: f"text of {item} </script>\u2028" for item in whole["items"]["id"]}
    path = page(folder, documents=texts)
    data = data_of(path)
    assert data["lists"] == {}
    assert set(data["items"]) == {"id"}
    assert len(data["parts"]) > 2
    assert "'self'" in elements(path).policy
    lists: dict[str, Any] = {}
    for name, first, last in data["parts"]:
        text = (folder / name).read_text(encoding="utf-8")
        assert not set("<\u2028") & set(text)
        part = json.loads(text.removeprefix("rankwellPart(").removesuffix(");\n"))
        assert sorted(map(int, part["lists"])) == list(range(first, last + 1))
        used = {str(row[0]) for rows in part["lists"].values() for run in rows for row in run}
        assert {item: told["text"] for item, told in part["items"].items()} == {
            item: " ".join(texts[data["items"]["id"][int(item)]].split()) for item in used
        }
        lists |= part["lists"]
    assert lists == whole["lists"]
    manifest = json.loads((folder / "manifest.json").read_bytes())
    beside = {each.relative_to(folder).as_posix() for each in (folder / "report_data").iterdir()}
    assert beside == {name for name, _, _ in data["parts"]}
    assert {name for name in manifest["files"] if name.startswith("report")} == beside | {
        "report.html"
    }
    for name, digest in manifest["files"].items():
        assert digest == f"sha256:{hashlib.sha256((folder / name).read_bytes()).hexdigest()}"
    (folder / "report_data" / "mine.js").write_text("// somebody's own")
    written, notes = write_report([folder], folder / "other.html")
    assert written[1].parent.name == "other_data"
    assert f"{len(written) - 1} files" in notes[0]
    assert {each.name for each in (folder / "report_data").iterdir()} > {
        name.split("/")[1] for name, _, _ in data["parts"]
    }
    monkeypatch.setattr("rankwell.comparison.pages.write_page", real)
    page(folder)
    assert [each.name for each in (folder / "report_data").iterdir()] == ["mine.js"]
    made(folder, 40)
    assert (folder / "report.html").exists(), "the page of the same results is right"
    with (
        overwriting(True),
        pytest.warns(UserWarning, match="showed the earlier results, and is removed"),
    ):
        made(folder, 41)
    assert not (folder / "report.html").exists(), "a page of an earlier result is stale"


def test_an_edited_page_is_replaced_on_request_alone(tmp_path: Path) -> None:
    folder = made(tmp_path, 12)
    first = page(folder).read_bytes()
    (folder / "report.html").write_text("edited")

    with pytest.raises(BadUsage, match="overwrite=True"):
        page(folder)
    assert (folder / "report.html").read_text() == "edited"
    with overwriting(True):
        page(folder)

    assert (folder / "report.html").read_bytes() == first
    assert read_results(folder).place == folder


def test_the_page_is_the_same_to_the_byte(tmp_path: Path) -> None:
    folder = made(tmp_path / "a", 600, depth=6)
    program = f"""
from pathlib import Path
from rankwell.comparison.pages import write_report
from rankwell.reporting.page import document
document.vega_bundle = lambda: ""
write_report([{str(folder)!r}], Path({str(tmp_path)!r}) / "SEED" / "report.html")
"""
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": seed}
        subprocess.run(
            [sys.executable, "-c", program.replace("SEED", seed)], check=True, env=environment
        )
    assert (tmp_path / "1" / "report.html").read_bytes() == (
        tmp_path / "2" / "report.html"
    ).read_bytes()


def test_the_order_of_rows_does_not_show(small: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    page(small)
    folder = tmp_path / "shuffled"
    folder.mkdir()
    (folder / "summary.json").write_bytes((small / "summary.json").read_bytes())
    manifest = json.loads((small / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": {}}))
    for name in ("details.parquet", "queries.parquet"):
        pandas.read_parquet(small / name).sample(frac=1, random_state=3).to_parquet(
            folder / name, index=False
        )
    table = pandas.read_parquet(small / "per_query.parquet")
    mixed = table.sample(frac=1, random_state=3)
    keys = [
        (run, measure)
        for run, measure in table[["run", "measure"]].drop_duplicates().itertuples(index=False)
    ]
    parts = [mixed[(mixed.run == run) & (mixed.measure == measure)] for run, measure in keys]
    pandas.concat(parts).to_parquet(folder / "per_query.parquet", index=False)
    assert page(folder).read_bytes() == (small / "report.html").read_bytes()


def test_captions_of_both_directions_are_different_queries(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", np.random.default_rng(0).random((12, 12)))
    sys.argv = ["rankwell", "crossmodal", str(tmp_path / "scores.npy"), "-o", str(tmp_path / "out")]
    assert main() == 0
    data = data_of(page(tmp_path / "out"))
    assert data["protocol"] == "crossmodal"
    words = {"t2v": "text to video", "v2t": "video to text"}
    names = {word: name for name, word in words.items()}
    ways = [names[word] for word in data["queries"]["attributes"]["direction"]]
    assert sorted(zip(data["queries"]["id"], ways, strict=True)) == sorted(
        (str(at), way) for at in range(12) for way in ("t2v", "v2t")
    )
    per_query = read_results(tmp_path / "out")
    for each, fact in zip(per_query.values, per_query.row_attributes, strict=True):
        at = next(
            n
            for n, m in enumerate(data["measures"])
            if (m["name"], m["of"]) == (each.measure, words[fact["direction"]])
        )
        mine = data["queries"]["values"][at][0]
        assert [
            value for value, way in zip(mine, ways, strict=True) if way != fact["direction"]
        ] == [None] * 12
        assert sum(value for value in mine if value is not None) == pytest.approx(
            np.nansum(each.values), rel=1e-6
        )
    for query, (rows,) in data["lists"].items():
        assert {row[5]["direction"] for row in rows} == {ways[int(query)]}


def test_the_page_opens_with_the_deepest_cut_off_where_the_answer_is_about_it(
    tmp_path: Path,
) -> None:
    random = np.random.default_rng(0)
    models = {name: random.random((80, 4)) for name in ("model", "a", "b")}
    result = evaluate_embeddings(
        models["model"], {name: models[name] for name in "ab"}, k=[1, 5], intervals="none"
    )
    keep(result, tmp_path)
    data = data_of(page(tmp_path))
    assert data["measures"][data["lead"]]["label"] == "Overlap@5"
    assert " Overlap@5 " in data["verdicts"][0]
    assert data_of(page(made(tmp_path / "runs", 12)))["lead"] == 0


def test_accuracy_and_beyond_of_the_same_runs_are_one_comparison(tmp_path: Path) -> None:
    folders = [made(tmp_path / "accuracy", 12), tmp_path / "coverage"]
    runs = {name: {"q1": {"a": 2.0, "b": 1.0}} for name in ("run 0", "run 1")}
    keep(rankwell.evaluate_beyond(runs, ["Entropy@2"]), folders[1])
    data = data_of(write_report(folders, tmp_path / "report.html")[0][0])
    assert data["runs"] == ["run 0", "run 1"]
    labels = [measure["label"] for measure in data["measures"]]
    assert labels[0] == "nDCG@5"
    assert labels[-1] == "Entropy@2"
    # The same measure of the same runs is another system.
    again = data_of(
        write_report([folders[0], made(tmp_path / "again", 12)], tmp_path / "other.html")[0][0]
    )
    assert again["runs"][0] == "accuracy/run 0"
    assert len(again["runs"]) == 4


def test_ceilings_and_chance_levels_stand_beside_the_figures(tmp_path: Path) -> None:
    keep(evaluate_crossmodal(np.random.default_rng(0).random((12, 12)), intervals="none"), tmp_path)
    rows = json.loads((tmp_path / "summary.json").read_bytes())["rows"]
    levels = [(row.get("ceiling"), row.get("chance")) for row in data_of(page(tmp_path))["summary"]]
    assert levels == [(row["ceiling"], row["chance"]) for row in rows]
    assert levels[0] == (100, pytest.approx(100 / 12))


def answers_folder(folder: Path) -> Path:
    """The result of a retriever and a reader, and of the same reader on the right passages, over
    four questions.
    """
    gold = squad(*[qa(f"q{number}", context=f"Paris is {number}.") for number in range(4)])
    given = [
        {"id": f"q{number}", "rank": 1, "text": text}
        for number, text in enumerate(("Paris", "Rome", None, "Rome"))
    ]
    run = "".join(
        f"q{number} Q0 {document} 1 1.0 x\n"
        for number, document in enumerate(("France#0", "France#0", "France#0", "none"))
    )
    (folder / "bm25.run").write_text(run)
    result = evaluate_qa(
        written(folder / "gold.json", gold),
        lines(folder / "reader.jsonl", *given),
        retrieved=str(folder / "bm25.run"),
        isolated=lines(folder / "isolated.jsonl", *({**each, "text": "Paris"} for each in given)),
        convention="piaf-article",
        details=True,
        intervals="none",
    )
    present(result, output=folder / "out", charts=False, tables={"failures": result.failures})
    return folder / "out"


def test_a_document_of_two_folders_is_one_item_and_each_folder_keeps_its_own_outcomes(
    tmp_path: Path,
) -> None:
    gold = written(
        tmp_path / "gold.json",
        squad(qa("q1", context="Paris is here."), qa("q2", context="Paris is there.")),
    )
    for name, first in (("old", "France#1"), ("new", "France#0")):
        (tmp_path / f"{name}.run").write_text(
            f"q1 Q0 {first} 1 2.0 x\nq1 Q0 Spain#0 2 1.0 x\nq2 Q0 France#0 1 1.0 x\n"
        )
        answers = lines(
            tmp_path / f"{name}.jsonl",
            {"id": "q1", "rank": 1, "text": "France#0"},
            {"id": "q2", "text": "Paris"},
        )
        corpus = written(
            tmp_path / "corpus.json",
            {"France#0": "Paris is here.", "France#1": "Paris is there.", "Spain#0": "No."},
        )
        result = evaluate_qa(
            gold,
            answers,
            retrieved=str(tmp_path / f"{name}.run"),
            documents=corpus,
            convention="piaf-article",
            details=True,
            intervals="none",
        )
        present(result, output=tmp_path / name, charts=False)

    data = data_of(
        write_report([tmp_path / "old", tmp_path / "new"], tmp_path / "report.html")[0][0]
    )

    runs, ids = data["runs"], data["items"]["id"]
    lists = [
        {row[0] for row in data["lists"]["0"][place]}
        for place, run in enumerate(runs)
        if run.endswith(".run")
    ]
    assert len(lists) == 2
    assert [sorted(ids[item] for item in own) for own in lists] == [
        ["France#0", "France#1", "Spain#0"],
        ["France#0", "Spain#0"],
    ]
    assert lists[1] < lists[0]
    readers = [
        {row[0] for row in data["lists"]["0"][place]}
        for place, run in enumerate(runs)
        if not run.endswith(".run")
    ]
    assert not lists[0] & set.union(*readers)
    attributes = data["queries"]["attributes"]
    assert "failed" not in attributes
    assert [attributes[f"document_rank ({name})"][0] for name in ("old", "new")] == [None, 1]
    assert attributes["failed (old)"][0] == "retriever"
    assert attributes["failed (new)"][0] == "reader"
    assert attributes["document"] == ["France#0", "France#0"]
    of_runs = {
        name: [runs[place] for place in places]
        for name, places in data["queries"]["attribute_runs"].items()
    }
    assert of_runs["failed (old)"] == ["old.run", "old.jsonl"]
    assert of_runs["failed (new)"] == ["new.run", "new.jsonl"]
    assert "document" not in of_runs
    assert any(
        note.startswith("attributes of queries that differ between folders bear the name")
        for note in said_on(data)
    )


def test_the_page_of_answers_says_first_who_fails(tmp_path: Path) -> None:
    data = data_of(page(answers_folder(tmp_path)))
    assert (
        data["verdicts"][0]
        == "3 of 4 questions fail by reader_top1_accuracy over all questions: 1 by the retriever, "
        "1 by the reader, 1 because it abstained."
    )
    assert [(row["failed"], row["n"], row["share"], row["alone"]) for row in data["failures"]] == [
        ("retriever", 1, 0.25, 1),
        ("reader", 1, 0.25, 1),
        ("no-answer", 1, 0.25, 1),
        ("none", 1, 0.25, 1),
    ]
    attributes = data["queries"]["attributes"]
    assert sorted(set(attributes["failed"])) == sorted(row["failed"] for row in data["failures"])
    assert [data["runs"][run] for run in data["pair"]] == ["reader", "isolated"]
    # A reader is not compared with itself on gold passages.
    assert data["differences"] == []
    assert not any("missing from some runs" in note for note in said_on(data))


def test_relevant_items_and_flags_are_those_of_each_run(tmp_path: Path) -> None:
    """A retriever finds one relevant document of each question; a reader is right twice, in other
    words, or not at all.
    """
    gold = written(
        tmp_path / "gold.json",
        squad(qa("q1", context="Paris is here."), qa("q2", context="Paris is there.")),
    )
    given = [
        {"id": "q1", "rank": 1, "text": "Paris"},
        {"id": "q1", "rank": 2, "text": "the Paris"},
        {"id": "q2", "text": "Rome"},
    ]
    (tmp_path / "found.run").write_text("q1 Q0 France#0 1 2.0 x\nq2 Q0 France#0 1 1.0 x\n")
    result = evaluate_qa(
        gold,
        lines(tmp_path / "reader.jsonl", *given),
        retrieved=str(tmp_path / "found.run"),
        convention="piaf-article",
        details=True,
        intervals="none",
    )
    keep(result, tmp_path / "out")
    data = data_of(page(tmp_path / "out"))
    counted = [
        [sum(row[4] == "relevant" for row in data["lists"][query][run]) for query in "01"]
        for run in (0, 1)
    ]

    assert data["runs"] == ["found", "reader"]
    assert data["queries"]["relevant"] == counted
    assert counted[0] != counted[1]


def test_a_flag_that_all_queries_of_some_runs_have_is_a_note_that_names_them(
    tmp_path: Path,
) -> None:
    qrels = {f"q{query}": {"a": 1} for query in range(12)}
    tied = {query: {"a": 1.0, "b": 1.0} for query in qrels}
    split = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    keep(
        evaluate(
            qrels,
            {"tied": tied, "split": split, "half": {**split, "q0": tied["q0"]}},
            ["P@1"],
            details=True,
        ),
        tmp_path,
    )
    data = data_of(page(tmp_path))

    assert data["queries"]["flags"]["tie at rank 1"] == [
        [],
        [],
        [data["queries"]["id"].index("q0")],
    ]
    assert "tie at rank 1: all 12 queries of tied" in said_on(data)


def test_a_and_b_begin_with_the_pair_of_the_headline(tmp_path: Path) -> None:
    """Of all pairs the leader is B and the runner-up A; their differences come first, B less A."""
    folder = made(tmp_path / "four", 60, runs=4)
    data = data_of(page(folder))
    means = {row["run"]: row["mean"] for row in data["summary"] if row["measure"] == 0}
    second, leader = sorted(means, key=means.__getitem__)[-2:]
    assert data["verdicts"][0].startswith(f"run {leader} leads")
    assert data["pair"] == [second, leader]
    first = data["differences"][0]
    assert [first["a"], first["b"]] == [second, leader]
    a, b = (data["queries"]["values"][0][run] for run in (second, leader))
    both = [round(y - x, 9) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    assert first["difference"] == pytest.approx(np.mean(both), abs=1e-6)
    assert first["low"] < first["difference"] < first["high"]
    assert [first[name] for name in ("better", "worse", "equal")] == [
        sum(map(test, both))
        for test in (lambda each: each > 0, lambda each: each < 0, lambda each: each == 0)
    ]
    sys.argv = ["rankwell", "compare", str(folder), "-o", str(tmp_path / "compared")]
    assert main() == 0
    again = data_of(tmp_path / "compared" / "report.html")
    assert again["pair"] == data["pair"]
    in_order = [
        sorted(each["differences"], key=lambda row: (row["a"], row["b"], row["measure"]))
        for each in (again, data)
    ]
    assert in_order[0] == in_order[1]


def test_pictures_stand_once(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    folder = made(tmp_path / "results", 12, ids=["a/1", "a/2", "../out", "d"], depth=3)
    (tmp_path / "img" / "a").mkdir(parents=True)
    for place in ("img/a/1.png", "img/a/2.png", "out.png"):
        image.new("RGB", (300, 200), "red").save(tmp_path / place)
    written, notes = write_report(
        [folder], folder / "report.html", thumbnails=str(tmp_path / "img" / "{id}.png")
    )
    items = data_of(written[0])["items"]
    drawn = {item for item, picture in zip(items["id"], items["thumbnail"], strict=True) if picture}
    assert drawn == {"a/1", "a/2"}, "a path that leaves the folder is no picture"
    assert all(
        each is None or each.startswith("data:image/jpeg;base64,") for each in items["thumbnail"]
    )
    assert notes == ["2 of 4 items have no picture: '../out', 'd'"] or set(
        notes[0].split(": ")[1].split(", ")
    ) == {"'../out'", "'d'"}
    again = data_of(page(folder, thumbnails=str(tmp_path / "img")))["items"]
    assert {
        item for item, picture in zip(again["id"], again["thumbnail"], strict=True) if picture
    } == {"a/1", "a/2"}


def test_several_folders_are_compared(small: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other", 40, runs=1)
    written, _ = write_report([f"first={small}", other], tmp_path / "both.html")
    data = data_of(written[0])
    assert data["runs"] == ["first/run 0", "first/run 1", "run 0"]
    assert len(data["differences"]) == 3 * 4
    assert {
        data["runs"][run]
        for lists in data["lists"].values()
        for run, rows in enumerate(lists)
        if rows
    } == set(data["runs"])
    assert [chart["id"] for chart in data["charts"]] == ["k_curves", "critical_difference"]


@pytest.mark.parametrize("name", ["per_query.parquet", "details.parquet"])
def test_damaged_tables_are_named(small: Path, tmp_path: Path, name: str) -> None:
    folder = made(tmp_path, 12)
    (folder / name).write_bytes((folder / name).read_bytes()[:-40])
    with pytest.raises(BadInput, match=name):
        page(folder)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ('{"a":' * 200 + "1" + "}" * 200, "nested too deep"),
        ("[1]", "is not a JSON object"),
        ("{", "a detail:1"),
    ],
)
def test_a_detail_of_another_kind_is_named(tmp_path: Path, detail: str, said: str) -> None:
    folder = with_detail(tmp_path, detail)

    with pytest.raises(BadInput, match=f"details.parquet: .*{said}"):
        page(folder)


def test_a_detail_that_is_not_finite_is_null(tmp_path: Path) -> None:
    data = data_of(page(with_detail(tmp_path, '{"distance": NaN, "seconds": 2}')))

    assert {"distance": None, "seconds": 2} in [
        row[5] for rows in data["lists"].values() for run in rows for row in run
    ]


def with_detail(folder: Path, detail: str) -> Path:
    """A folder without a manifest, all of whose results have a detail."""
    details = {**read_results(made(folder, 12)).table("details.parquet")}
    details["detail"] = [detail] * len(details["run"])
    write_parquet(folder / "details.parquet", details, DETAIL_TYPES)
    (folder / "manifest.json").unlink()
    return folder


def test_a_folder_without_details_has_a_page_without_lists(tmp_path: Path) -> None:
    folder = made(tmp_path, 12)
    (folder / "details.parquet").unlink()
    data = data_of(page(folder))
    assert data["lists"] == {}
    assert data["shown"]["queries"] == 0
    assert "evaluate with details=True" in data["shown"]["rule"]
    assert len(data["queries"]["id"]) == 12


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report"], "name a folder of results"),
        (["report", "nowhere"], "nowhere is not a folder"),
        (
            ["report", "s3://bucket/results"],
            "s3://bucket/results is an address, and results are read from folders of this",
        ),
        (["report", "s3://bucket/results", "-o", "page.html"], "s3://bucket/results is an address"),
        (
            ["compare", "s3://bucket/results", "s3://bucket/more"],
            "s3://bucket/results is an address",
        ),
        (["report", "s3://bucket/results", "--open"], "s3://bucket/results is an address"),
        (["compare", "--plan", "s3://bucket/results"], "s3://bucket/results is an address"),
        (["report", "."], "has no per_query.parquet"),
        (
            ["report", "{small}", "-o", "{small}/summary.csv/x.html"],
            "summary.csv is a file, not a folder",
        ),
        (
            ["report", "{small}", "-o", "{small}/new.csv"],
            "new.csv has the name of a file of another format, and a page is named",
        ),
        (
            ["report", "{small}", "-o", "{small}/summary.csv"],
            "is a file, and a page is named *.html; name {small}/summary.html",
        ),
        (["report", "{small}", "--thumbnails", "nowhere"], "no such folder"),
        (["report", "{small}", "--documents", "nowhere.tsv"], "no such file"),
        (["report", ".", "--open"], "has no per_query.parquet"),
        (["report", "nowhere", "--open"], "nowhere is not a folder"),
    ],
)
def test_errors_say_what_to_do(
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["rankwell", *(each.replace("{small}", str(small)) for each in arguments)]
    )
    assert main() == 2
    error = capsys.readouterr().err
    assert said.replace("{small}", str(small)) in error
    assert error.count("\n") == 1


def test_open_shows_the_page_and_writes_it_where_the_folder_has_none_of_these_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path / "new", 12)
    path = folder / "report.html"
    opened: list[str] = []
    written: list[int] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)

    for options in ([], ["--open"], ["--open"], ["--open", "--title", "Mine"]):
        monkeypatch.setattr(sys, "argv", ["rankwell", "report", str(folder), *options])
        assert main() == 0
        assert capsys.readouterr().out == f"{path}\n"
        written.append(path.stat().st_ino)

    assert opened == [path.as_uri()] * 3
    assert written[0] == written[1] == written[2] != written[3]
    assert "<title>Mine" in path.read_text(encoding="utf-8")


def test_the_page_of_other_results_is_written_anew_before_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, other = made(tmp_path / "a", 12), made(tmp_path / "b", 30)
    page(folder)
    page(other)
    (other / "report.html").replace(folder / "report.html")
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    monkeypatch.setattr(sys, "argv", ["rankwell", "report", str(folder), "--open", "--overwrite"])

    assert main() == 0

    assert "no browser could be started; open the file by hand" in capsys.readouterr().err
    assert len(data_of(folder / "report.html")["queries"]["id"]) == 12


def test_the_bundle_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    script = "let a = '</script><!--';\r\n"
    fake = SimpleNamespace(javascript_bundle=lambda: calls.append(1) or script)
    monkeypatch.setitem(sys.modules, "vl_convert", fake)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = scripts.vega_bundle()
    assert first == scripts.vega_bundle() == "(() => {let a = '<\\/script><\\!--';\n})();\n"
    assert len(calls) == 1
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert scripts.vega_bundle() == first
    assert len(calls) == 2


def test_the_page_carries_the_licences_of_the_script_that_it_bundles(small: Path) -> None:
    import vl_convert

    text = html.unescape(page(small).read_text(encoding="utf-8"))

    licences = text[text.index('<pre id="licences" hidden>') :].partition("</pre>")[0]
    embed, vega = vl_convert.get_vega_embed_version(), vl_convert.get_vega_version()
    lite = max(vl_convert.get_vegalite_versions(), key=lambda each: [*map(int, each.split("."))])
    assert re.search(rf"by Vega {vega}, Vega-Lite {lite}\.\d+ and Vega-Embed {embed},", licences)
    for words in (
        "Redistribution and use in source",
        "Permission to use, copy",
        "Permission is hereby granted",
        "unencumbered",
    ):
        assert words in licences
    assert len(licences) < 15_000


def test_numbers_have_seven_digits_and_five_decimals() -> None:
    random = np.random.default_rng(5)
    values = np.concatenate(
        [
            random.standard_normal(500) * 10.0 ** random.integers(-12, 12, 500),
            [0.0, 1.0, -0.1, 1 / 3, np.nan],
        ]
    )
    for value, got in zip(values.tolist(), rounded(values).tolist(), strict=True):
        short = (
            float(f"{value:.7g}")
            if abs(value) < 100
            else round(value, 5)
            if abs(value) < 1e9
            else value
        )
        # A tie of the decimals that are printed stays in full.
        assert (
            got == short
            or (got == value and f"{short:.5f}".rstrip("0").endswith("5"))
            or (value != value and got != got)
        )


def test_places_are_refused_before_work(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match="two runs are called"):
        write_report(
            [f"a={made(tmp_path / 'x', 12, runs=1)}", f"a={made(tmp_path / 'y', 12, runs=1)}"],
            tmp_path / "page.html",
        )


def test_of_many_runs_each_is_tested_against_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the numbers of `rankwell compare --baseline`, and a sentence that sums them up."""
    folder = made(tmp_path / "six", 30, runs=6)
    data = data_of(page(folder))
    sys.argv = [
        "rankwell",
        "compare",
        str(folder),
        "--baseline",
        "run 0",
        "-o",
        str(tmp_path / "compared"),
    ]
    assert main() == 0
    capsys.readouterr()
    again = data_of(tmp_path / "compared" / "report.html")

    assert again["differences"] == data["differences"]
    assert {(row["a"], row["b"]) for row in data["differences"]} == {
        (0, run) for run in range(1, 6)
    }
    assert data["verdicts"][1:] == again["verdicts"]
    first = [row for row in data["differences"] if row["measure"] == 0 and row["decisive"]]
    better, worse = (sum(sign * row["difference"] > 0 for row in first) for sign in (1, -1))
    told = (
        f"{better} of 5 runs {'is' if better == 1 else 'are'} better than run 0 by nDCG@5, "
        f"{worse} worse"
    )
    assert data["verdicts"][0] == f"{told}, {5 - better - worse} without a significant difference."
    assert (
        "each run was tested against run 0 alone, not all 15 pairs; try `rankwell compare`"
        in said_on(data)
    )


def test_charts_show_what_can_be_taken_in_at_a_glance(tmp_path: Path) -> None:
    folder = made(tmp_path, 12, runs=10)
    found = {each["id"]: each for each in data_of(page(folder))["charts"]}
    assert set(found) == {"k_curves", "critical_difference"}
    assert [len(each["spec"]["concat"]) for each in found.values()] == [1, 1]
    assert "scales" not in found["k_curves"]["note"] + found["critical_difference"]["note"]
    assert found["critical_difference"]["note"].endswith("the first of 4 measures")


def test_unjudged_results_are_counted(small: Path) -> None:
    pandas = pytest.importorskip("pandas")
    data = data_of(page(small))
    table = pandas.read_parquet(small / "details.parquet")
    near = (
        table[(table.state == "unjudged") & (table["rank"] <= 10)].groupby(["run", "query"]).size()
    )
    assert data["queries"]["unjudged"] == [
        [int(near.get((run, query), 0)) for query in data["queries"]["id"]] for run in data["runs"]
    ]


def test_the_page_does_not_tell_where_its_folders_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders are called as they are named, or by the end of their path that tells them apart."""
    first, other = (
        made(tmp_path / "a" / "results", 30),
        made(tmp_path / "b" / "results", 31, runs=1),
    )
    for folder, name in ((first, "x"), (other, "y")):
        manifest = json.loads((folder / "manifest.json").read_bytes())
        manifest["rules"]["ties"] = name
        (folder / "manifest.json").write_text(json.dumps(manifest))
    absolute, _ = write_report([first, f"other={other}"], tmp_path / "absolute.html", title="t")
    named = absolute[0].read_bytes()
    assert str(tmp_path).encode() not in named
    monkeypatch.chdir(tmp_path)
    relative, _ = write_report(
        ["a/results", "other=b/results"], tmp_path / "relative.html", title="t"
    )
    assert relative[0].read_bytes() == named
    assert "ties is x in results and y in other" in said_on(data_of(absolute[0]))
    both, _ = write_report([first, other], tmp_path / "both.html", title="t")
    assert any(
        note.startswith("ties is x in a/results and y in b/results")
        for note in said_on(data_of(both[0]))
    )


@pytest.mark.parametrize(
    ("targets", "first"), [([0, 1, 1, 0] * 3, "AP"), ([0, 1, 2, 5] * 3, "Spearman")]
)
def test_a_page_of_pairs_speaks_of_pairs_and_leads_with_what_they_are_judged_by(
    tmp_path: Path, targets: list[float], first: str
):
    expected, names = np.array(targets, float), [f"p{row:02}" for row in range(len(targets))]
    compared = [
        ModelPairs(
            run, None, ScoredPairs(names, expected, expected + np.resize(shift, len(targets)))
        )
        for run, shift in (("near", [0.1, -0.2, 0.3]), ("far", [1.5, -2.0]))
    ]
    present(
        evaluate_pairs(PairInputs(compared, {}, [], {}), PairOptions(), details=True),
        output=tmp_path,
        charts=False,
    )

    write_report([tmp_path], tmp_path / "report.html")

    data = data_of(tmp_path / "report.html")
    assert data["noun"] == ["pair", "pairs"]
    assert data["measures"][0]["label"] == first
    assert not {"relevant", "first", "unjudged"} & set(data["queries"])
    assert data["shown"]["rule"] == ""
    own = data["queries"]["attributes"]
    assert own["target"] == targets
    assert own["similarity of far"] == pytest.approx(compared[1].scored.similarities.tolist())
    # What is tested has a value for each pair; the others are named.
    assert {data["measures"][each["measure"]]["label"] for each in data["differences"]} == {
        "MAE",
        "MSE",
        "MAE(fit='affine')",
    }
    (said,) = [
        note
        for note in said_on(data)
        if note.startswith("not compared, as figures of all pairs together: ")
    ]
    assert said.split(": ")[1].split(", ")[0] == first
    assert said.endswith("; the verdict is by MAE, the first measure with a value of every pair")
    assert "queries" not in json.dumps([data["verdicts"], said_on(data), data["charts"]])


@pytest.mark.filterwarnings("always::rankwell.errors.RankwellWarning")
def test_the_decimals_that_a_command_was_asked_for_are_those_of_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 1\nq 0 c 1\nr 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 2 x\nq Q0 z 2 1 x\nr Q0 z 1 2 x\nr Q0 a 2 1 x\n")
    folder = tmp_path / "results"
    words = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "-o", str(folder)]

    def run(*words: str) -> None:
        monkeypatch.setattr(sys, "argv", ["rankwell", *words])
        assert main() == 0

    def head() -> Mapping[str, Any]:
        run("report", str(folder))
        text = (folder / "report.html").read_text(encoding="utf-8")
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
        assert found
        return json.loads(found[1])

    run(*words, "-m", "R@2")
    assert "digits" not in head()
    run(*words, "-m", "R@2", "--digits", "9")
    assert not (folder / "report.html").exists()
    assert json.loads((folder / "manifest.json").read_text())["digits"] == 9
    shown = head()
    assert shown["digits"] == 9
    assert shown["queries"]["values"][0][0] == [1 / 3, 1]


def test_a_folder_of_folders_gets_the_page_of_each_and_its_table_links_to_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "qrels").write_text("q 0 a 1\nr 0 a 1\n")
    for name in ("x", "y"):
        (tmp_path / f"{name}.run").write_text("q Q0 a 1 2 x\nr Q0 a 1 2 x\n")
    (tmp_path / "bench.toml").write_text(
        '[[dataset]]\nname = "d"\ncommand = "evaluate"\nqrels = "qrels"\nruns = "{system}.run"\n'
        '[[system]]\nname = "x"\n[[system]]\nname = "y"\n'
    )
    folder = tmp_path / "bench-results"
    pages = [folder / "d" / name / "report.html" for name in ("x", "y")]

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["rankwell", *words])
        assert main() == 0
        return capsys.readouterr().out

    def linked() -> set[str]:
        return set(re.findall(r'<a href="([^"]*)"', (folder / "table.html").read_text()))

    run("bench", str(tmp_path / "bench.toml"))
    assert linked() == set()
    assert run("report", str(folder)).split() == list(map(str, pages))
    assert all(page.is_file() for page in pages)
    run("bench", str(tmp_path / "bench.toml"))
    assert linked() == {"d/x/report.html", "d/y/report.html"}
