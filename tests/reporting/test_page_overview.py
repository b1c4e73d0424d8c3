"""The overview in a browser: its first screen, where its bands, chips and lists lead, and that it
breaks no rule of axe-core.
"""

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium")

from accessibility import axe, violations, window
from browsing import Page
from page_world import world, written

__all__ = ["axe"]

BANDS = ["rank 1", "ranks 2–5", "ranks 6–10", "ranks 11–100", "not retrieved"]
FIRST = [1, 3, 7, 30, None]


def ranked(runs: list[str], n: int = 40) -> dict[str, Any]:
    """A page whose queries are in all bands: run r has the bands of query + r in turn."""
    data = world(n=n, runs=runs)
    data["queries"]["first"] = [
        [FIRST[(query + run) % len(FIRST)] for query in range(n)] for run in range(len(runs))
    ]
    data["queries"]["unjudged"] = [[query % 3 for query in range(n)] for _ in runs]
    data["findings"] += [
        {
            "name": "unjudged-in-top",
            "level": "warning",
            "message": "38–40 % of the top 10 unjudged",
            "detail": "in detail",
            "sort": "unjudged",
        },
        {
            "name": "unjudged-in-top",
            "level": "warning",
            "message": "of one run",
            "run": runs[0],
            "queries": [1, 2],
        },
        {
            "name": "queries-without-relevant",
            "level": "warning",
            "message": "2 queries have nothing relevant",
            "queries": [1, 2],
        },
        {
            "name": "values-depend-on-ties",
            "level": "info",
            "message": "the values of 2 queries depend on ties",
            "run": runs[0],
            "queries": [3, 4],
        },
    ]
    return data


def questions() -> dict[str, Any]:
    """A page of questions of which half fail."""
    data = world(runs=["reader", "isolated"]) | {"protocol": "qa", "differences": [], "groups": []}
    data["verdicts"] = ["20 of 40 questions fail by accuracy: 20 by the reader."]
    data["queries"]["attributes"] = {
        "failed": ["reader", "none"] * 20,
        "why": ["wrong answer", "right"] * 20,
    }
    data["failures"] = [
        {"failed": "reader", "why": "wrong answer", "n": 20, "share": 0.5, "alone": None},
        {"failed": "none", "why": "right", "n": 20, "share": 0.5, "alone": None},
    ]
    return data


def pairs() -> dict[str, Any]:
    """A page without lists: a value of each query."""
    data = world(runs=["model"], listed=0) | {"protocol": "pairs", "groups": [], "charts": []}
    for name in ("first", "relevant"):
        del data["queries"][name]
    data["shown"]["rule"] = ""
    return data


WORLDS = {
    "two runs": lambda: ranked(["first_sentences", "whole_docs"]),
    "one run": lambda: ranked(["bm25"]),
    "five runs": lambda: ranked([f"system {number}" for number in range(5)]),
    "questions": questions,
    "pairs": pairs,
}


def bottom(browser: Page, selector: str) -> float:
    return browser.run(
        "Math.max(...Array.from(document.querySelectorAll(arguments[0]), each => "
        "each.getBoundingClientRect().bottom))",
        selector,
    )


@pytest.mark.parametrize("name", WORLDS)
def test_the_first_screen_holds_the_answer(browser: Page, tmp_path: Path, name: str):
    page = written(tmp_path, WORLDS[name]())
    with window(browser, 1440, 900, "light"):
        browser.open(page)
        browser.wait(lambda: browser.texts(".case"), "queries that fail")
        shown = ["h1", ".evidence", ".findings", "#bars, #failures", "#fails .case"]
        for selector in shown if name != "pairs" else [*shown[:3], shown[4]]:
            assert 0 < bottom(browser, selector) <= 900, selector
    with window(browser, 390, 844, "light"):
        browser.open(page)
        for selector in ("h1", ".evidence"):
            assert 0 < bottom(browser, selector) <= 844, selector
        assert browser.run("document.documentElement.scrollWidth") <= 390


def test_a_band_leads_to_its_queries(browser: Page, tmp_path: Path):
    data = ranked(["first_sentences", "whole_docs"])
    page = written(tmp_path, data)
    browser.open(page)
    assert browser.texts(".band-legend span")[:-1] == BANDS
    rows = browser.run(
        "Array.from(document.querySelectorAll('.bar-row'), row => "
        "Array.from(row.querySelectorAll('.band'), each => Number(each.textContent)))"
    )
    for run, counts in enumerate(rows):
        ranks = data["queries"]["first"][run]
        assert counts == [ranks.count(rank) for rank in FIRST]

    for run, name in enumerate(data["runs"]):
        for band, rank in enumerate(FIRST):
            browser.open(page)
            browser.click(f".bar-row:nth-of-type({run + 1}) .band-{band if band < 4 else 5}")
            browser.wait(lambda: browser.find("#queries").is_displayed(), "the queries")
            assert browser.texts("#active .chip") == [f"first relevant in {name}: {BANDS[band]}"]
            expected = [
                query for query in range(40) if data["queries"]["first"][run][query] == rank
            ]
            assert sorted(browser.column("id")) == [f"q{query:04}" for query in expected]
    # The filter is among the others.
    browser.browser.back()
    assert browser.complaints() == []


def test_the_band_of_a_third_run_puts_it_beside_the_first(browser: Page, tmp_path: Path):
    browser.open(written(tmp_path, ranked(["one", "two", "three"])))
    browser.click(".bar-row:nth-of-type(3) .band-0")
    assert browser.run("document.querySelector('#run-b').selectedOptions[0].text") == "three"
    assert browser.texts("#active .chip") == ["first relevant in three: rank 1"]


def test_chips_lead_to_their_queries_the_most_serious_first(browser: Page, tmp_path: Path):
    page = written(tmp_path, ranked(["first_sentences", "whole_docs"]))
    browser.open(page)
    assert browser.texts(".finding") == [
        "40 queries, all counted",
        "⚠ 38–40 % of the top 10 unjudged",
        "⚠ queries without relevant: 2 queries",
        "values depend on ties: 2 queries",
        "How this was measured, 1 more finding",
    ]
    titles = browser.run(
        "Array.from(document.querySelectorAll('.finding'), each => each.getAttribute('title'))"
    )
    assert titles == [
        None,
        "in detail\nof one run",
        "2 queries have nothing relevant",
        "the values of 2 queries depend on ties",
        None,
    ]
    browser.click("li:nth-child(3) > .finding")
    assert sorted(browser.column("id")) == ["q0001", "q0002"]
    browser.open(page)
    browser.click(".finding.warning")
    assert browser.texts("th[aria-sort=descending]") == ["Unjudged"]
    browser.open(page)
    browser.click("li:last-child > .finding")
    details, *_, note, ties = browser.texts(".all-findings li")
    assert "in detail" in details
    assert (note, ties[:10]) == ("a note", "the values")


def test_findings_of_the_results_are_chips_of_their_levels(browser: Page, tmp_path: Path):
    data = ranked(["first_sentences", "whole_docs"])
    data["findings"] = [
        {"name": "ties", "level": "info", "message": "2 queries with ties", "queries": [4, 5]},
        {"name": "short-run", "level": "warning", "message": "short lists", "run": "a"},
        {"name": "short-run", "level": "warning", "message": "short lists", "run": "b"},
        {"name": "foreign", "level": "error", "message": "a wrong key", "queries": [7]},
    ]
    browser.open(written(tmp_path, data))
    assert browser.texts(".finding")[1:-1] == [
        "✕ foreign: 1 query",
        "⚠ short run: 2 runs",
        "ties: 2 queries",
    ]
    browser.click("li:nth-child(4) > .finding")
    assert sorted(browser.column("id")) == ["q0004", "q0005"]
    browser.open(written(tmp_path, data))
    browser.click(".finding.warning")
    assert browser.find("#method").is_displayed()


def test_queries_that_fail_and_that_get_worse_lead_to_their_lists(browser: Page, tmp_path: Path):
    data = ranked(["first_sentences", "whole_docs"])
    browser.open(written(tmp_path, data))
    a, b = data["queries"]["values"][0]
    lost = sorted((q for q in range(40) if b[q] < a[q]), key=lambda q: (b[q] - a[q], q))

    failing = [q for q in range(40) if data["queries"]["first"][1][q] in (30, None)]
    assert (
        f"{len(failing)} of 40 have nothing relevant in the top 10"
        in browser.find("#fails h2").text
    )
    browser.wait(lambda: all(browser.texts("#fails .hit")), "the first results")
    assert browser.texts("#fails .case-facts > .loss") == ["not retrieved"] * 4
    assert all(re.fullmatch(r"\D*d\d+ ranked 1", hit) for hit in browser.texts("#fails .hit"))
    assert f"{len(lost)} queries get worse" in browser.find("#losses h2").text
    assert browser.texts("#losses .number") == [
        f"{b[q] - a[q]:+.3f}".replace("-", "−") for q in lost[:4]
    ]
    browser.click("#losses .all")
    assert browser.column("id") == [f"q{q:04}" for q in lost]
    browser.open(written(tmp_path, data))
    assert browser.find("#fails .all").text == f"All {len(failing)} failures"
    browser.click("#fails .all")
    assert sorted(browser.column("id")) == [f"q{q:04}" for q in failing]
    assert browser.texts("#active .chip") == ["top 10 of whole_docs: fails"]
    browser.open(written(tmp_path, data))
    browser.click("#fails .case")
    browser.wait(lambda: len(browser.texts("#detail .card-row")) == 12, "both lists")
    assert browser.complaints() == []


def test_slices_are_means_of_their_queries_to_which_they_lead(browser: Page, tmp_path: Path):
    data = ranked(["first_sentences", "whole_docs"])
    data["queries"]["text"] = [" ".join(["word"] * (1 + query % 6)) for query in range(40)]
    browser.open(written(tmp_path, data))
    rows = browser.run(
        "Array.from(document.querySelectorAll('#slices tbody tr'), row => "
        "Array.from(row.querySelectorAll('th, .number'), each => each.textContent))"
    )
    assert [row[0] for row in rows] == [
        "1–2 words",
        "3–4 words",
        "5–6 words",
        "type: even",
        "type: odd",
    ]
    a, b = data["queries"]["values"][0]
    for (label, n, *means), wanted in zip(rows, [(1, 2), (3, 4), (5, 6)], strict=False):
        queries = [query for query in range(40) if 1 + query % 6 in wanted]
        assert int(n) == len(queries), label
        expected = [sum(values[query] for query in queries) / len(queries) for values in (a, b)]
        assert [float(mean) for mean in means] == pytest.approx(expected, abs=5e-4)
    # Headings stand above their columns where there is no room for bars.
    with window(browser, 390, 844, "light"):
        right_ends = browser.run(
            "['thead', 'tbody tr'].map(part => Array.from(document.querySelector(`#slices ${part}`)"
            ".querySelectorAll('.number'), each => each.getBoundingClientRect().right))"
        )
        assert right_ends[0] == right_ends[1]
    browser.click("#slices tbody tr:nth-child(2) a")
    assert browser.texts("#active .chip") == ["query length: 3–4 words"]
    assert browser.find("#shown").text == f"{rows[1][1]} of 40 queries"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
@pytest.mark.parametrize("name", WORLDS)
def test_no_view_breaks_a_rule(
    browser: Page, axe: str, tmp_path: Path, name: str, width: int, height: int, scheme: str
):
    page = written(tmp_path, WORLDS[name]())
    views = ["#overview", "#queries", "#method"]
    if name != "pairs":
        views.append("#queries?query=q0003")
    with window(browser, width, height, scheme):
        for view in views:
            browser.open(page, view)
            if view == "#overview":
                browser.wait(lambda: browser.texts(".case"), "queries")
            assert violations(browser, axe) == [], view
        browser.press("?")
        assert violations(browser, axe) == []
