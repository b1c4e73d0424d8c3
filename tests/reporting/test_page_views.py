"""What each protocol shows of a query, in a real browser: the nodes of the page against the rows of
details.parquet.
"""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

pytest.importorskip("selenium")

import rankwell as rw
from answer_forms import lines, qa, squad, written
from browsing import Page
from rankwell.comparison.pages import write_report
from rankwell.data.matrices import ScoredPairs
from rankwell.io.result_folder import read_results
from rankwell.reporting.folder import write_result
from rankwell.reporting.options import present
from rankwell.tasks.crossmodal.task import evaluate_crossmodal
from rankwell.tasks.embeddings.evaluation import evaluate_embeddings
from rankwell.tasks.embeddings.printing import write_folder as write_agreement
from rankwell.tasks.images.images import ImageEntry, Images
from rankwell.tasks.images.task import evaluate_images
from rankwell.tasks.keywords.evaluation import evaluate_keywords
from rankwell.tasks.pairs.task import ModelPairs, PairInputs, PairOptions, evaluate_pairs
from rankwell.tasks.qa.evaluation import evaluate_qa

HOSTILE = '<img src="x" onerror="window.ran = 1">'


def shown(browser: Page, folder: Path, query: str) -> list[list[dict[str, Any]]]:
    """Opens a query of the folder's page; returns the rows of each run's list in order of rank."""
    page = folder / "report.html"
    if not page.exists():
        write_report([folder], page)
    browser.open(page, f"#queries?query={quote(query, safe='')}")
    browser.wait(lambda: browser.texts("#detail .ranked"), "the lists of the query")
    columns = read_results(folder).table("details.parquet")
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    runs = list(dict.fromkeys(row["run"] for row in rows))
    mine = [
        [
            row | {"detail": json.loads(row["detail"])}
            for row in rows
            if (row["run"], row["query"]) == (run, query) and row["rank"]
        ]
        for run in runs
    ]
    return [
        sorted((row for row in listed if row["rank"] <= 20), key=lambda row: row["rank"])
        for listed in mine
    ]


def quiet(browser: Page) -> None:
    assert browser.complaints() == []
    assert browser.run("window.ran") is None
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clips")
    draw = np.random.default_rng(2)
    names = [f"c{number}" for number in range(24)]
    labels = [[word for word in ("car", HOSTILE, "bus") if draw.random() < 0.55] for _ in names]
    table = [
        {"slice_id": name, "who": mine, "where": ["road"]}
        for name, mine in zip(names, labels, strict=True)
    ]
    (place / "clips.json").write_text(json.dumps(table))
    np.save(place / "v.npy", draw.standard_normal((24, 4)))
    result = evaluate_keywords(
        place / "clips.json",
        place / "v.npy",
        item_ids=names,
        keyword_groups="who,where",
        details=True,
        intervals="none",
    )
    present(result, output=place / "out", charts=False)
    write_report([place / "out"], place / "out" / "report.html")
    return place / "out"


def test_keywords_show_which_keywords_each_result_has_and_lacks(browser: Page, clips: Path) -> None:
    details = read_results(clips).table("details.parquet")
    query = next(
        query
        for query, detail in zip(details["query"], details["detail"], strict=True)
        if HOSTILE in json.loads(detail)["groups"].get("who", {"missing": []})["missing"]
    )

    (rows,) = shown(browser, clips, query)

    def words(row: dict[str, Any], kind: str) -> set[str]:
        return {label for each in row["detail"]["groups"].values() for label in each[kind]}

    for kind, place in (("found", ".keyword-chip .keyword"), ("missing", ".lacking .keyword")):
        labels = browser.run(
            "Array.from(document.querySelectorAll('.card-row'), row => "
            f"Array.from(row.querySelectorAll('{place}'), label => label.textContent))"
        )
        assert [set(each) for each in labels] == [words(row, kind) for row in rows]
    told = [text for text in browser.texts(".card-row .found-keywords") if "lacks" in text]
    assert len(told) == sum(bool(words(row, "missing")) for row in rows)
    counts = [
        (len(words(row, "found")), len(words(row, "found")) + len(words(row, "missing")))
        for row in rows
    ]
    assert browser.texts(".found-keywords strong") == [
        f"{found} of {every}" for found, every in counts
    ]
    lacking = {
        word: sum(word in words(row, "missing") for row in rows[:10])
        for word in words(rows[0], "found") | words(rows[0], "missing")
    }
    table = (
        browser.texts(".keyword-table tbody .keyword"),
        browser.texts(".keyword-table tbody .number"),
    )
    assert dict(zip(*table, strict=True)) == {word: f"{n} of 10" for word, n in lacking.items()}
    assert [int(each.split()[0]) for each in table[1]] == sorted(lacking.values(), reverse=True)
    crosses = browser.run("document.querySelectorAll('.keyword-table .sign.missing').length")
    assert crosses == sum(lacking.values())
    # Told apart by shape and by name, not by colour alone.
    shapes = browser.run(
        "Array.from(document.querySelectorAll('.keyword-table .sign'), "
        "each => each.classList[1] + each.lastChild.getAttribute('d'))"
    )
    assert len(set(shapes)) == 2
    quiet(browser)


def test_embeddings_shows_rank_similarity_and_margin_under_the_reference(
    browser: Page, tmp_path: Path
) -> None:
    draw = np.random.default_rng(4)
    reference = draw.standard_normal((60, 5))
    candidates = {
        name: reference + noise * draw.standard_normal((60, 5))
        for name, noise in (("near", 0.3), ("far", 0.9))
    }
    write_agreement(
        evaluate_embeddings(reference, candidates, k=10, samples=8, intervals="none", details=True),
        tmp_path,
    )
    query = read_results(tmp_path).table("details.parquet")["query"][0]

    lists = shown(browser, tmp_path, query)

    told = browser.texts(".card-row .reference")
    rows = [row["detail"] for listed in lists for row in listed]
    assert len(told) == len(rows) >= 20
    for text, detail in zip(told, rows, strict=True):
        assert f"reference {detail['reference_rank']}" in text
        assert f"{detail['reference_score']:.4f}".replace("-", "−") in text
        assert f"{abs(detail['margin']):.4f}" in text
        assert ("as good as counted" in text) == (-0.005 <= detail["margin"] < 0)
    kept = [
        sum(row["state"] == "relevant" and row["rank"] <= 10 for row in listed) for listed in lists
    ]
    dots = {
        kind: browser.run(f"document.querySelectorAll('.strip .dot.{kind}').length")
        for kind in ("kept", "lost", "other")
    }
    assert dots == {"kept": sum(kept), "lost": 20 - sum(kept), "other": 20 - sum(kept)}
    known = read_results(tmp_path).attributes
    summary = browser.texts("#detail .block > .view > p")[0]
    assert summary.startswith(
        f"The reference's 10th and 11th are {float(known['margin'][query]):.4f}".rstrip("0")
    )
    assert ("close to chance" in summary) == (known["near_cut"][query] != "0")
    quiet(browser)


def test_qa_show_what_they_share_with_the_right_one(browser: Page, tmp_path: Path) -> None:
    gold = squad(qa("q1"), {"id": "q2", "question": "?", "answers": [], "is_impossible": True})
    given = [
        {"id": "q1", "rank": 1, "text": f"🌍 the paris {HOSTILE}", "no_answer": 0.125},
        {"id": "q1", "rank": 2, "text": "Paris"},
        {"id": "q1", "rank": 3, "text": "xyz"},
        {"id": "q2", "rank": 1, "text": None, "no_answer": 0.5},
    ]
    result = evaluate_qa(
        written(tmp_path / "gold.json", gold),
        lines(tmp_path / "reader.jsonl", *given),
        convention="squad2",
        details=True,
    )
    present(result, output=tmp_path / "out", charts=False)

    (rows,) = shown(browser, tmp_path / "out", "q1")

    assert [row["item"] for row in rows] == browser.texts(".card-row .title-line .answer")
    # Characters are counted as Python does: the picture before the word is one, and two code units.
    assert browser.texts(".card-row:first-child .title-line .same-word") == ["paris"]
    assert browser.texts(".card-row:first-child .against .same-word") == ["Paris"]
    assert f"{rows[0]['detail']['token_f1']:.4f}" in browser.texts(".card-row .reference")[0]
    assert browser.texts(".card-row .reference")[1:] == [
        "exactly the right answer",
        "shares nothing with a right answer",
    ]
    assert browser.texts(".card-row:nth-child(2) .passage .said-both") == ["Paris"]
    assert browser.texts(".right-answer") == ["Paris"]
    assert browser.texts(".run-lines strong") == ["0.1250"]
    quiet(browser)
    shown(browser, tmp_path / "out", "q2")
    assert browser.texts(".card-row .title-line .answer") == ["says that there is no answer"]
    assert "No answer is right" in browser.texts("#detail .block > .view")[0]
    assert browser.texts(".gold tbody th .answer") == ["says that there is no answer"]
    quiet(browser)


def test_images_show_tiles_with_labels_and_the_first_right_one(
    browser: Page, tmp_path: Path
) -> None:
    references = [
        ImageEntry(f"r{number}", f"thing {number % 4}", "reference") for number in range(12)
    ]
    images = Images.from_entries(
        [*references, ImageEntry("q1", "thing 2", "query"), ImageEntry("q2", "thing 0", "query")]
    )
    scores = np.array([np.arange(12.0)[::-1], np.arange(12.0)])
    result = evaluate_images(
        images,
        scores=scores,
        query_ids=["q1", "q2"],
        item_ids=[f"r{number}" for number in range(12)],
        details=True,
    )
    present(result, output=tmp_path, charts=False)

    (rows,) = shown(browser, tmp_path, "q1")

    assert browser.texts(".tile .instance .label") == [row["detail"]["label"] for row in rows]
    assert browser.texts(".tile .first-right") == ["first right"]
    classes = browser.run(
        "Array.from(document.querySelectorAll('.tile'), each => each.classList[1])"
    )
    assert classes == [row["state"] for row in rows]
    assert classes.index("relevant") == 2
    assert (
        "first right one at rank 3 · 2 of 3 right among the first 10"
        in browser.texts(".run-lines li")[0]
    )
    # The list of failures names what the pictures were taken for.
    browser.click("#to-overview")
    browser.wait(lambda: all(browser.texts("#fails .hit")), "the first results")
    assert sorted(browser.texts("#fails .hit-name")) == ["taken for thing 0", "taken for thing 3"]
    quiet(browser)


def test_crossmodal_show_the_lead_of_the_best_right_one_or_its_distance_from_the_first(
    browser: Page, tmp_path: Path
) -> None:
    scores = np.array([[0.9, 0.4, 0.1], [0.8, 0.55, 0.2], [0.3, 0.2, 0.6]])
    names = {"query_ids": ["c0", "c1", "c2"], "item_ids": ["v0", "v1", "v2"]}
    result = evaluate_crossmodal(
        scores, queries=["a red car", "a bus", HOSTILE], details=True, intervals="none", **names
    )
    present(result, output=tmp_path, charts=False)

    shown(browser, tmp_path, "c1")
    assert browser.texts(".run-lines li > :last-child") == [
        "best right one at rank 2, 0.2500 short of the first"
    ]
    assert "text to video" in browser.texts("#detail .block > .view")[0]
    assert browser.texts(".card-row .snippet") == ["a red car", "a bus", HOSTILE]
    shown(browser, tmp_path, "v2")
    assert browser.texts(".run-lines li > :last-child") == [
        "best right one at rank 1, 0.4000 ahead of the first wrong one"
    ]
    assert "video to text" in browser.texts("#detail .block > .view")[0]
    assert browser.texts(".card-row .snippet") == [HOSTILE, "a bus", "a red car"]
    quiet(browser)


def live_results(folder: Path) -> Path:
    """A sweep of SQLite's full-text search, of which one query fails once, as with
    `--allow-failures`.
    """
    docs = {
        f"d{row}": f"{'parse ' * (row % 4 + 1)}a date {'x ' * row}{HOSTILE if row == 3 else ''}"
        for row in range(12)
    }
    asked = {f"q{row}": f"parse {'date' if row % 2 else 'x'}" for row in range(24)}
    judged = {query: {f"d{row % 12}": 1} for row, query in enumerate(asked)}
    sweep = {"k1": [0.5, 1.2], "b": [0.0, 0.75]}
    result = rw.evaluate_engine(
        "sqlite-fts5",
        asked,
        documents=docs,
        qrels=judged,
        measures=["nDCG@5", "RR"],
        sweep=sweep,
        rounds=2,
    )
    failed = {
        "run": "sqlite-fts5 k1=1.2 b=0",
        "query": "q1",
        "round": 2,
        "status": "timeout",
        "error": f"late {HOSTILE}",
    }
    write_result(result, folder, charts=False, tables={**result.tables, "unanswered": [failed]})
    return folder


def test_engine_shows_the_frontier_the_verdict_the_curves_and_the_settings(
    browser: Page, tmp_path: Path
) -> None:
    folder = live_results(tmp_path / "live")
    write_report([folder], folder / "report.html")

    browser.open(folder / "report.html")
    browser.wait(
        lambda: browser.run("document.querySelectorAll('[data-chart] svg').length") == 3,
        "three charts",
    )

    assert browser.run(
        "Array.from(document.querySelectorAll('[data-chart]'), each => each.dataset.chart)"
    ) == [*("frontier", "over_k1", "over_b")]
    bounds = "document.querySelector('{}').getBoundingClientRect().{}"
    # The verdict comes first, and the settings stand below their frontier.
    places = [("h1", "#bars"), ("#fails", "[data-chart=frontier]")]
    for above, below in [*places, ("[data-chart=frontier]", ".settings")]:
        edges = f"{bounds.format(above, 'bottom')} <= {bounds.format(below, 'top')}"
        assert browser.run(edges), (above, below)
    assert "is the best setting by nDCG@5" in browser.texts("#overview h1")[0]
    heads = browser.texts(".settings thead th")
    assert heads[:3] == ["k1", "b", "Choice"]
    assert not [head for head in heads if head.startswith(("p99", "latency", "build"))]
    rows = json.loads((folder / "summary.json").read_text())["rows"]
    means = [f"{row['mean']:.3f}" for row in rows if row["measure"] == "nDCG@5"]
    place = heads.index("nDCG@5") + 1
    assert [
        each.split("[")[0] for each in browser.texts(f".settings tbody tr > :nth-child({place})")
    ] == means
    constants = browser.texts(".constants .chip")
    assert {"engine sqlite-fts5", "words any"} <= set(constants)
    assert [each.split()[0] for each in constants].count("build") == 1
    assert browser.texts("#unanswered tbody td")[-1] == f"late {HOSTILE}"
    quiet(browser)
    browser.open(folder / "report.html", "#queries?query=q1")
    browser.wait(lambda: browser.texts("#detail .ranked"), "the lists of the query")
    assert len(browser.texts("#detail .ranked:first-child .card-row")) == 10
    assert len(browser.texts("#detail .ranked")) == 2
    assert browser.texts(".run-lines li > :last-child")[0].endswith(" ms")
    quiet(browser)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_narrow_page_holds_every_view(browser: Page, clips: Path, theme: str) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        query = read_results(clips).table("details.parquet")["query"][0]
        browser.open(clips / "report.html", f"#queries?query={query}&theme={theme}")
        browser.wait(lambda: browser.texts("#detail .keyword-table"), "the table of keywords")
        ends = (
            "Array.from(document.querySelectorAll('#detail .view'), each => "
            "each.getBoundingClientRect().right)"
        )
        assert 0 < max(browser.run(ends)) <= 390
        quiet(browser)
    finally:
        browser.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_clicks_of_interleaved_lists_are_of_impressions(browser: Page, tmp_path: Path) -> None:
    lists = rw.interleave(
        {"q": ["a", "b"]}, {"q": ["b", "a"]}, names=("old", "new"), method="team-draft"
    )
    clicks = {"query": ["q", "q"], "item": ["a", "b"], "impression": ["1", "2"]}
    rw.evaluate_interleaving(lists, clicks).save(tmp_path)
    write_report([tmp_path], tmp_path / "report.html")

    browser.open(tmp_path / "report.html")

    assert browser.texts("#to-queries span")[0] == "Impressions"
    assert "quer" not in " ".join(browser.texts("#help dd, #shown, #queries h1")).lower()
    quiet(browser)


def test_pairs_show_their_target_and_similarities_and_nothing_of_lists(
    browser: Page, tmp_path: Path
) -> None:
    names, targets = [f"p{row:02}" for row in range(12)], np.array([0.0, 1.0, 1.0] * 4)
    scored = ScoredPairs(names, targets, targets + np.linspace(0.25, 3.0, 12))
    inputs = PairInputs([ModelPairs("model", None, scored)], {}, [], {})
    present(evaluate_pairs(inputs, PairOptions(), details=True), output=tmp_path, charts=False)
    write_report([tmp_path], tmp_path / "report.html")

    browser.open(tmp_path / "report.html", "#queries?query=p11")

    assert browser.texts("#to-queries span")[0] == "Pairs"
    assert [each.split("\n")[0] for each in browser.texts("#table thead th")] == ["Pair", "MAE"]
    assert browser.column("id")[0] == "p11"
    assert browser.texts("#detail .chips .chip") == ["target similarity 1", "similarity of model 4"]
    assert browser.texts("#detail .empty, #detail .legend") == []
    browser.click("#help-open")
    assert "B 9 ↑8" not in browser.texts("#help .signs dt")
    assert browser.texts("#help .legend span") == []
    assert "quer" not in " ".join(browser.texts("#help dd, #shown, #queries h1")).lower()
    quiet(browser)
