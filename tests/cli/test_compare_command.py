"""`rankwell compare` on folders of results and on judgments and runs: what it prints and writes."""

import csv
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

import rankwell as rw
from commanding import with_fields
from rankwell.cli.commands.compare import compare as compare_command
from rankwell.data.options import overwriting, showing
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.io.result_folder import read_results
from rankwell.reporting.charts import CHARTS, ChartData
from rankwell.reporting.folder import FolderContent, write_folder

compare = with_fields(compare_command)

QUERIES = [f"q{place:02}" for place in range(60)]
RULES = {
    "convention": "rankwell",
    "ties": "id-desc",
    "measures": {
        "AP": {"better": "higher", "summary": "mean"},
        "MnR": {"better": "lower", "summary": "mean"},
    },
    "counts": {"run": {"counted": 60}},
}


def folder_of(
    path,
    *,
    lift=0.0,
    run="run",
    rules=RULES,
    digest="sha256:1",
    queries=QUERIES,
    weights=None,
    attributes=True,
):
    """A folder as `-o` writes it: one run, two measures, what is known of the queries, and two
    results of each.
    """
    random = np.random.default_rng(7)
    base = random.random(60) * 0.8
    noise = np.random.default_rng(int(1000 * lift)).normal(0, 0.05, 60)
    values = [
        Values(
            run,
            "AP",
            "AP",
            "share",
            "mean",
            tuple(queries),
            (base + lift + noise).round(4),
            weights,
        ),
        Values(
            run, "MnR", "MnR", "rank", "mean", tuple(queries), (20 - 50 * (lift + noise)).round(2)
        ),
    ]
    content = FolderContent(
        summary=[],
        values=values,
        rules=rules,
        findings=[],
        manifest={"rules": rules, "inputs": {"judgments": {"file": "qrels", "digest": digest}}},
        details={
            "run": [run],
            "query": ["q00"],
            "item": ["d1"],
            "rank": [1],
            "score": [0.5],
            "grade": [1.0],
            "state": ["relevant"],
        },
        queries={
            "query": list(queries),
            "text": [f"text of {query}" for query in queries],
            **({"type": ["a", "b"] * 30, "length": list(range(60))} if attributes else {}),
        },
    )
    write_folder(path, content, charts=False)
    return str(path)


@pytest.fixture
def two(tmp_path):
    return folder_of(tmp_path / "old"), folder_of(tmp_path / "new", lift=0.1)


def test_a_folder_without_values_of_queries_is_named(two, tmp_path):
    rules = {**RULES, "measures": {}}
    content = FolderContent(
        summary=[], values=[], rules=rules, findings=[], manifest={"rules": rules, "inputs": {}}
    )
    write_folder(tmp_path / "none", content, charts=False)

    with pytest.raises(
        BadInput,
        match=r"none has no value of any single query.*; evaluate it by a measure that has one",
    ):
        compare(two[0], str(tmp_path / "none"))


def test_folders_are_named_by_themselves_where_runs_are_called_the_same(two):
    text = compare(*two).text

    assert re.match(r"new is better: \+0\.1\d\d AP \(95% CI 0\.\d{3} to 0\.\d{3}, p", text)
    assert re.search(r"\nMnR +\d+\.\d\d +\d+\.\d\d +-\d", text)


def test_a_name_before_a_folder_is_that_of_its_run(two):
    text = compare(two[0], f"candidate={two[1]}", measures=["MnR"]).text

    assert text.startswith("candidate is better: -")
    assert re.search(r"\n +run +candidate +difference", text)


def test_the_same_results_give_the_same_bytes_whatever_the_order_of_rows(two, tmp_path):
    before = compare(*two, format="json", group="type").text
    for place in two:
        path = f"{place}/per_query.parquet"
        rows = duckdb.sql(f"SELECT * FROM '{path}' ORDER BY hash(query || measure)").fetchall()
        assert len(rows) == 120
        duckdb.sql(
            f"CREATE OR REPLACE TEMP TABLE shuffled AS SELECT * FROM '{path}' ORDER BY "
            "measure, hash(query)"
        )
        duckdb.sql(f"COPY shuffled TO '{path}' (FORMAT parquet)")
        manifest = json.loads(Path(f"{place}/manifest.json").read_text())
        manifest["files"]["per_query.parquet"] = (
            f"sha256:{hashlib.sha256(Path(path).read_bytes()).hexdigest()}"
        )
        Path(f"{place}/manifest.json").write_text(json.dumps(manifest))

    assert compare(*two, format="json", group="type").text == before


def test_json_holds_verdicts_groups_and_rows(two):
    document = json.loads(compare(*two, format="json", group="type", measures=["AP"]).text)

    assert [row["measure"] for row in document["rows"]] == ["AP", "AP", "Difference(AP)"]
    assert [row["group"] for row in document["groups"]] == ["type = a", "type = b"]
    assert document["verdicts"][0]["text"].startswith("new is better than old: +")
    assert document["rules"]["test"] == "randomisation"
    assert document["rules"]["ties"] == "id-desc"


def test_a_column_that_is_not_there_is_named_with_those_that_are(two, tmp_path):
    with pytest.raises(UnknownName, match=r"no query has a column 'typ'; did you mean 'type'\?"):
        compare(*two, group="typ")
    bare = (
        folder_of(tmp_path / "bare", attributes=False),
        folder_of(tmp_path / "bare2", attributes=False, lift=0.2),
    )
    with pytest.raises(BadInput, match="the queries have no attributes to take 'type' from"):
        compare(*bare, cluster="type")


def test_folders_that_with_other_judgments_or_rules_are_reported(two, tmp_path):
    other = folder_of(
        tmp_path / "other", lift=0.05, digest="sha256:2", rules={**RULES, "ties": "input"}
    )

    notes = " ".join(compare(two[0], other).findings)

    assert "have different judgments" in notes
    assert "ties is id-desc in" in notes
    assert "and input in" in notes


def test_a_rule_of_one_folder_alone_is_reported(two, tmp_path):
    other = folder_of(tmp_path / "other", lift=0.05, rules={**RULES, "min_similarity": 0.3})

    assert (
        "min-similarity is 0.3 in other; old was evaluated without it"
        in compare(two[0], other).findings
    )
    assert (
        "min-similarity is 0.3 in other; old was evaluated without it"
        in compare(other, two[0]).findings
    )
    assert not any("evaluated without" in note for note in compare(*two).findings)


def test_attributes_of_queries_that_depend_on_the_system_are_kept_for_each_folder(two, tmp_path):
    write_parquet = duckdb.connect()
    for name, value in zip(two, ("reader", "retriever"), strict=True):
        path, manifest = Path(name) / "queries.parquet", Path(name) / "manifest.json"
        write_parquet.execute(
            f"COPY (SELECT *, '{value}' AS failed FROM '{path}') TO "
            f"'{tmp_path}/queries.parquet' (FORMAT parquet)"
        )
        (tmp_path / "queries.parquet").replace(path)
        content = json.loads(manifest.read_text())
        content["files"]["queries.parquet"] = (
            f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
        )
        manifest.write_text(json.dumps(content))

    notes = compare(*two, output=tmp_path / "out").findings

    (note,) = [note for note in notes if "failed" in note]
    what = "attributes of queries that differ between folders bear the name of their folder"
    assert note == f"{what}, such as 'failed (old)' and 'failed (new)': failed"
    written = duckdb.sql(f"SELECT * FROM '{tmp_path}/out/queries.parquet'")
    assert {"failed (old)", "failed (new)", "type"} <= set(written.columns)
    assert "failed" not in written.columns
    assert duckdb.sql(
        f"SELECT DISTINCT \"failed (new)\" FROM '{tmp_path}/out/queries.parquet'"
    ).fetchall() == [("retriever",)]
    assert "retriever" in compare(*two, group="failed (new)").text


def test_what_is_written_can_be_compared_again(two, tmp_path):
    compare(*two, output=tmp_path / "out", group="type", measures=["AP"])

    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {
        "verdicts.txt",
        "groups.csv",
        "summary.csv",
        "per_query.parquet",
        "details.parquet",
        "queries.parquet",
    } <= names
    assert {
        "deltas.png",
        "deltas.svg",
        "differences.svg",
        "intervals.svg",
        "per_query.svg",
    } <= names
    again = read_results(tmp_path / "out")
    assert [(each.run, each.measure) for each in again.values] == [("old", "AP"), ("new", "AP")]
    assert again.attributes["type"]["q01"] == "b"
    assert again.table("details.parquet")["run"] == ["old", "new"]
    rows = duckdb.sql(
        f"SELECT run, against, count(*) FROM '{tmp_path}/out/per_query.parquet' GROUP BY ALL "
        "ORDER BY ALL"
    ).fetchall()
    assert rows == [("new", "old", 60), ("new", None, 60), ("old", None, 60)]
    with (tmp_path / "out" / "groups.csv").open(newline="") as stream:
        assert [row["group"] for row in csv.DictReader(stream)] == ["type = a", "type = b"]


def test_the_same_comparison_writes_the_same_bytes(two, tmp_path):
    for name in ("one", "other"):
        compare(*two, output=tmp_path / name, correction="max-t", resamples=500)

    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.name


def test_weights_come_back_from_a_folder(tmp_path):
    weights = np.arange(60.0)
    first, second = (
        folder_of(tmp_path / name, lift=lift, weights=weights)
        for name, lift in (("a", 0.0), ("b", 0.1))
    )
    values = [read_results(place).values[0] for place in (first, second)]

    row = json.loads(compare(first, second, measures=["AP"], format="json").text)["rows"][2]

    assert values[0].weights.tolist() == weights.tolist()
    assert read_results(first).values[1].weights is None
    assert row["mean"] == pytest.approx(
        float(np.average(values[1].values - values[0].values, weights=weights))
    )


@pytest.mark.parametrize("name", ["a[1]", "b*c", "it's", "{x,y}", "q?", "naïve ünï"])
def test_folders_may_have_any_name(tmp_path, name):
    place = folder_of(tmp_path / name)

    assert read_results(place).values[0].queries == tuple(QUERIES)
    assert read_results(place).table("details.parquet")["item"] == ["d1"]


def test_three_systems_have_marks_orders_and_a_diagram(two, tmp_path):
    third = folder_of(tmp_path / "third", lift=0.2)

    done = compare(*two, third, output=tmp_path / "out")

    assert re.search(r"\n +a old +b new +c third\nAP +\S+ +\S+ᵃ +\S+ᵃᵇ\n", done.text)
    assert "Superscripts: the systems that this one is significantly better than" in done.text
    with showing(details=True):
        assert "Kendall's τ" in compare(*two, third).text
    assert {"critical_difference.svg", "systems.csv", "orders.csv", "borda.csv"} <= {
        p.name for p in (tmp_path / "out").iterdir()
    }
    with (tmp_path / "out" / "systems.csv").open(newline="") as stream:
        assert [
            (row["run"], row["better_than"])
            for row in csv.DictReader(stream)
            if row["measure"] == "AP"
        ] == [("old", ""), ("new", "old"), ("third", "old, new")]


@pytest.mark.parametrize("form", ["table", "md", "latex", "csv", "tsv", "jsonl", "json"])
def test_every_format_prints(two, form):
    done = compare(*two, format=form, per_query=form != "csv", group="type", resamples=200)

    assert "AP" in done.text
    assert done.text.endswith("\n")


def runs_in(folder):
    (folder / "qrels").write_text("".join(f"{query} 0 d1 1\n" for query in QUERIES))
    rows = {"first": 0, "second": 1}
    for run, better in rows.items():
        lines = []
        for place, query in enumerate(QUERIES):
            gold = 9 if better or place % 3 else 1
            lines += [f"{query} Q0 d1 1 {gold} t\n", f"{query} Q0 d2 2 5 t\n"]
        (folder / f"{run}.run").write_text("".join(lines))
    (folder / "queries.csv").write_text(
        "id,text,type\n"
        + "".join(f"{query},words,{'ab'[place % 2]}\n" for place, query in enumerate(QUERIES))
    )
    return [str(folder / name) for name in ("qrels", "first.run", "second.run")]


def test_judgments_and_runs_are_evaluated_first(tmp_path):
    done = compare(
        *runs_in(tmp_path), measures=["RR"], queries=str(tmp_path / "queries.csv"), group="type"
    )

    # A third of the queries has the relevant item second in the first run.
    assert done.text.startswith("second is better: +0.167 RR (95% CI ")
    assert re.search(r"\nRR .* 20/40/0\n", done.text)
    assert [line.split("  ")[0] for line in done.text.splitlines() if "(n = 30)" in line] == [
        "type = a (n = 30)",
        "type = b (n = 30)",
    ]


def test_p_is_shown_where_there_is_room_for_it(tmp_path):
    judgments, first, second = runs_in(tmp_path)

    short = compare(judgments, first, second, measures=["RR"])
    long = compare(
        judgments, f"first_with_long_name={first}", f"second_long_name={second}", measures=["RR"]
    )

    assert re.search(r"\n +first +second +difference \(95% CI\) +p +win/tie/loss\n", short.text)
    assert re.search(r"second_long_name +difference \(95% CI\) +win/tie/loss\n", long.text)


def test_the_command_line_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rankwell", "compare", *runs_in(tmp_path), "-m", "RR", "-f", "csv"],
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["measure"] for row in rows] == ["RR", "RR", "Difference(RR)"]
    # 20 queries that differ all point one way: 2 · 2⁻²⁰.
    assert float(rows[2]["p"]) == pytest.approx(2 * 2.0**-20, rel=1e-9)


def test_places_that_do_not_go_together_are_refused(two, tmp_path):
    files = runs_in(tmp_path)
    (tmp_path / "empty").mkdir()

    with pytest.raises(BadUsage, match="cannot be combined"):
        compare(two[0], files[1], files[2])
    with pytest.raises(BadUsage, match=r"empty has no per_query\.parquet"):
        compare(two[0], str(tmp_path / "empty"))
    with pytest.raises(BadUsage, match="give two folders of results or more"):
        compare(files[0], files[1])
    with pytest.raises(BadUsage, match="two runs are called 'old'"):
        compare(two[0], two[0])
    with pytest.raises(BadUsage, match="--queries is for judgments and runs"):
        compare(*two, queries="x")
    with pytest.raises(BadUsage, match="--ties and --min-grade are for judgments and runs"):
        compare(*two, ties="expected", min_grade=2)
    with pytest.raises(BadInput, match="absent: no such file or folder; name folders"):
        compare(str(tmp_path / "absent"))


def test_judgments_and_runs_are_compared_under_the_rules_that_are_given(tmp_path):
    judgments = tmp_path / "qrels.csv"
    judgments.write_text(
        "query,item,grade\n" + "".join(f"q{n},a,1\nq{n},b,{n % 3 + 1}\n" for n in range(12))
    )
    files = [tmp_path / name for name in ("one.csv", "two.csv")]
    for file, items in zip(files, ("ab", "ba"), strict=True):
        rows = [f"q{n},{item},{2 - rank}\n" for n in range(12) for rank, item in enumerate(items)]
        file.write_text("query,item,score\n" + "".join(rows))
    rules = {"measures": ["P@1"], "min_grade": 2, "no_relevant": "skip"}

    printed = compare(str(judgments), *map(str, files), **rules, format="json")

    rows = json.loads(printed.text)["rows"]
    expected = rw.evaluate(judgments, files, **rules, intervals="none")["P(rel=2)@1"]
    assert {row["run"]: row["mean"] for row in rows if row["against"] is None} == expected
    assert expected == {"one": 0.0, "two": 1.0}


def test_a_folder_that_does_not_exist_is_named(two, tmp_path):
    with pytest.raises(
        BadInput, match="absent: no such file or folder; name a folder that a command wrote with -o"
    ):
        compare(*two, str(tmp_path / "absent"))


def test_damaged_folders_are_named(two, tmp_path):
    path = tmp_path / "old" / "per_query.parquet"
    path.write_bytes(path.read_bytes()[:200])

    with pytest.raises(BadInput, match=r"old/per_query\.parquet: the Parquet data is damaged"):
        compare(*two)
    (tmp_path / "new" / "manifest.json").write_text("[")
    with pytest.raises(BadInput, match=r"new/manifest\.json:1: .*; expected a manifest of results"):
        read_results(two[1])
    with pytest.raises(BadInput, match="is not a folder"):
        read_results(tmp_path / "nothing")


def test_a_query_that_appears_twice_is_named(two):
    path = f"{two[0]}/per_query.parquet"
    duckdb.sql(
        f"CREATE OR REPLACE TEMP TABLE doubled AS SELECT * FROM '{path}' UNION ALL SELECT * "
        f"FROM '{path}' WHERE query = 'q03'"
    )
    duckdb.sql(f"COPY doubled TO '{path}' (FORMAT parquet)")

    with pytest.raises(BadInput, match="run 'run' has query 'q03' twice by AP"):
        read_results(two[0])


def test_charts_of_differences_are_drawn_only_where_there_are_any(two, tmp_path):
    result = read_results(two[0])

    for name in ("deltas", "differences", "critical_difference"):
        assert CHARTS[name](ChartData([], result.values, {})) is None


def test_documents_are_for_the_page_of_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("".join(f"q{each} 0 d1 1\n" for each in range(12)))
    for name, item in (("one", "d1"), ("two", "d2")):
        Path(f"{name}.run").write_text("".join(f"q{each} Q0 {item} 1 2 r\n" for each in range(12)))
    Path("corpus.tsv").write_text("id\ttext\nd1\tred of the first\nd2\tblue of the second\n")

    words = ("qrels", "one.run", "two.run")
    with pytest.raises(BadUsage, match="--documents is for the page that -o writes"):
        compare(*words, documents="corpus.tsv")
    compare(*words, documents="corpus.tsv", output=Path("out"))

    assert "red of the first" in Path("out/report.html").read_text()


def test_a_second_comparison_in_a_folder_has_its_page_and_no_warning(two, tmp_path, recwarn):
    output = tmp_path / "again"
    compare(*two, measures=["AP"], output=output)
    with overwriting(allowed=True):
        compare(*two, measures=["MnR"], output=output)

    assert [str(each.message) for each in recwarn] == []
    assert "MnR" in (output / "report.html").read_text(encoding="utf-8")


def test_a_run_may_be_called_as_a_column_of_the_table(tmp_path):
    judgments, first, second = runs_in(tmp_path)

    printed = compare(judgments, f"p={first}", f"bm25:v2={second}", measures=["RR"])

    assert re.search(r"(?m)^RR +0\.833 +1\.000 +\+0\.167 \[.*\] +20/40/0$", printed.text)
    assert re.search(r"(?m)^ +p +bm25:v2 +difference", printed.text)
