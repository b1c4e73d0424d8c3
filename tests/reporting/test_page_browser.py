"""The page in a real browser, headless and without network: it sorts, filters, opens queries, and
runs nothing that it shows.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from browsing import ActionChains, Keys, Page
from page_world import HOSTILE, hostile_world, world, written
from rankwell.reporting.system_table import SystemFigure, SystemTable
from rankwell.reporting.system_table import page as page_of_tables


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("plain"), world())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("hostile"), hostile_world())


def test_a_verdict_on_many_runs_is_a_headline_with_its_evidence_and_whole_in_the_method(
    browser: Page, tmp_path: Path
):
    data = world(runs=["one", "two", "three"])
    data["verdicts"] = ["two leads by nDCG@10 (0.9); there is no significant difference from one."]
    browser.open(written(tmp_path, data))

    assert browser.find("h1").text == "two leads by nDCG@10 (0.9)"
    assert browser.find(".evidence").text == (
        "There is no significant difference from one · 0.500 against 0.500 for one · "
        "95 % CI [0.050, 0.150] · p = 0.0200 · 9 better, 3 equal, 5 worse"
    )
    browser.click("#to-method")
    assert browser.texts("#method .part:nth-of-type(1) li") == data["verdicts"]


def test_a_verdict_on_two_runs_is_in_numbers(browser: Page, tmp_path: Path):
    data = world()
    data["summary"][2]["mean"] = 0.62525
    browser.open(written(tmp_path, data))
    assert browser.find("h1").text == "whole_docs is better than first_sentences: +0.100 nDCG@10"
    evidence = "0.625 against 0.500 for first_sentences · 95 % CI [0.050, 0.150] · p = 0.0200"
    assert browser.find(".evidence").text == f"{evidence} · 9 better, 3 equal, 5 worse"

    # The page is about the second run, whether it is better or worse.
    data["differences"][0] |= {"difference": -0.1, "low": -0.15, "high": -0.05}
    data["differences"][0] |= {"better": 5, "worse": 9}
    data["summary"][0]["mean"], data["summary"][2]["mean"] = 0.625, 0.5
    data["verdicts"] = ["whole_docs is worse than first_sentences: -0.100 nDCG@10 (p = 0.0200)."]
    browser.open(written(tmp_path, data))
    assert browser.find("h1").text == "whole_docs is worse than first_sentences: −0.100 nDCG@10"
    assert "CI [−0.150, −0.050]" in browser.find(".evidence").text
    assert "5 better, 3 equal, 9 worse" in browser.find(".evidence").text

    pair = "No significant difference between whole_docs and first_sentences"
    data["verdicts"] = [f"{pair}: -0.100 nDCG@10 (p = 0.2000); also worse by AP."]
    browser.open(written(tmp_path, data))
    assert browser.find("h1").text == f"{pair}: −0.100 nDCG@10"


def test_runs_that_share_no_query_are_not_among_the_differences(browser: Page, tmp_path: Path):
    data = world(runs=["one", "two", "three"])
    none = dict.fromkeys(("difference", "low", "high", "p", "adjusted_p"))
    data["differences"] += [
        {**data["differences"][0], **none, "b": 2, "better": 0, "worse": 0, "equal": 0}
    ]
    browser.open(written(tmp_path, data))

    assert len(browser.texts("#scores .whisker")) == 1
    row = "#scores tbody tr:nth-child(3)"
    assert browser.texts(f"{row} th") == ["three"]
    assert browser.texts(f"{row} td")[-3:] == ["–", "–", "–"]


def test_a_query_without_a_text_has_its_id_in_the_first_line(browser: Page, tmp_path: Path):
    data = world(n=4)
    data["queries"]["text"][0] = None
    with width_of(browser, 390):
        browser.open(written(tmp_path, data), "#queries?sort=id")
        browser.wait(lambda: browser.texts("#table tbody a.id"), "rows")
        shown = (
            "[...document.querySelectorAll('#table tbody .col-text')].map(each => "
            "each.getClientRects().length > 0)"
        )
        assert browser.run(shown) == [False, True, True, True]
        place = (
            "row.querySelector('.id').getBoundingClientRect().top - row.getBoundingClientRect().top"
        )
        first, second = browser.run(
            f"[...document.querySelectorAll('#table .row')].slice(0, 2).map(row => {place})"
        )
        assert first < second


def expected_order(data: dict[str, Any], key: Callable[[int], Any]) -> list[str]:
    """Ids by a key, equal ones in the order of the data."""
    ids = data["queries"]["id"]
    return [ids[query] for query in sorted(range(len(ids)), key=lambda query: (key(query), query))]


def delta(data: dict[str, Any], measure: int = 0) -> Callable[[int], float]:
    a, b = data["queries"]["values"][measure]
    return lambda query: round(b[query] - a[query], 9)


def test_it_loads_with_its_charts_and_without_complaints(browser: Page, plain: Path):
    browser.open(plain)

    browser.wait(lambda: browser.texts(".chart svg"), "a chart")
    assert browser.find("h1").text.startswith("whole_docs is better")
    assert browser.texts("#overview .card h2")[0] == "Where is the first relevant document?"
    assert browser.texts("#scores h2, .chart-card h2, #slices h2, #groups h2") == [
        "Scores",
        "A chart",
        "By kind of query",
        "Groups",
    ]
    assert browser.texts("#method h2") == [
        "Verdict",
        "Findings",
        "Rules",
        "Measures",
        "Queries with lists",
        "Inputs",
        "Software",
    ]
    assert browser.complaints() == []


def test_the_table_sorts_by_every_column_and_says_so(browser: Page, plain: Path):
    data = world()
    browser.open(plain, "#queries")
    assert browser.column("id") == expected_order(data, delta(data))[: len(browser.column("id"))]
    a, b = data["queries"]["values"][0]
    keys = {
        "a": lambda q: -a[q],
        "b": lambda q: -b[q],
        "delta": lambda q: -delta(data)(q),
        "id": lambda q: q,
    }

    for name, key in keys.items():
        browser.click(f"#table thead [data-sort={name}]")
        shown = browser.column("id")
        assert shown == expected_order(data, key)[: len(shown)], name
        assert browser.find(f"#table thead .col-{name}").get_attribute("aria-sort") == (
            "ascending" if name == "id" else "descending"
        )


def test_filters_leave_what_passes_them_and_can_be_taken_away(browser: Page, plain: Path):
    data = world()
    browser.open(plain, "#queries")

    browser.find("#search").send_keys("NUMBER 1")
    assert set(browser.column("text")) == {text for text in data["queries"]["text"] if "1" in text}
    browser.find("#search").send_keys(Keys.ESCAPE)
    browser.click("#differ")
    assert (
        browser.find("#shown").text
        == f"{sum(delta(data)(query) != 0 for query in range(40))} of 40 queries"
    )
    browser.pick("#attribute-0", "odd (20)")
    low = browser.find("#range-delta-from")
    low.send_keys("0.1", Keys.ENTER)
    right = [q for q in range(40) if q % 2 and delta(data)(q) >= 0.1]
    assert sorted(browser.column("id")) == [f"q{query:04}" for query in right]
    assert len(browser.texts("#active .chip")) == 3
    browser.click("#flag-0")
    assert sorted(browser.column("id")) == [f"q{query:04}" for query in right if query in (1, 2)]
    for _ in range(4):
        browser.click("#active .chip")
    assert browser.find("#shown").text == "40 queries"


def test_dragging_over_the_histogram_filters(browser: Page, plain: Path):
    data = world()
    browser.open(plain, "#queries")
    drawing = browser.find(".spread")
    width = drawing.size["width"]

    ActionChains(browser.browser).move_to_element_with_offset(
        drawing, 2, 0
    ).click_and_hold().move_by_offset(width // 2, 0).release().perform()

    low, high = (
        float(browser.find(f"#range-delta-{end}").get_attribute("value") or "nan")
        for end in ("from", "to")
    )
    passing = sum(low <= delta(data)(query) <= high for query in range(40))
    assert browser.find("#shown").text == f"{passing} of 40 queries"
    assert 0 < passing < 40


def test_a_query_shows_its_relevant_items_and_both_lists_with_lines(browser: Page, plain: Path):
    browser.open(plain, "#queries")
    browser.click("#table tbody tr:nth-child(3) .col-text")

    assert browser.find("#detail-title").text == browser.column("text")[1]
    assert "not retrieved" in browser.texts(".gold td.place")
    assert [len(browser.texts(f".side-{side} .card-row")) for side in "ab"] == [6, 6]
    assert set(browser.texts(".card-row .mark title")) == {"relevant", "not relevant", "unjudged"}
    shared = browser.run(
        "Array.from(document.querySelectorAll('.side-a .card-row'), each => each.dataset.item)"
        ".filter(item => document.querySelector(`.side-b [data-item='${item}']`)).length"
    )
    assert len(browser.texts(".lines .line")) == shared > 0
    # Accents and case aside, this is the word of the query.
    assert "Númber" in browser.texts(".snippet mark")


def test_runs_are_switched_and_swapped(browser: Page, tmp_path: Path):
    runs = ["one", "two", "three"]
    data = world(runs=runs)
    browser.open(written(tmp_path, data), "#queries?query=q0003")
    values = data["queries"]["values"][0]

    browser.pick("#run-b", "three")
    assert browser.texts(".scores dt span:last-child") == ["one", "three"]
    assert browser.texts(".scores dd")[:2] == [f"{values[0][3]:.4f}", f"{values[2][3]:.4f}"]
    browser.pick("#run-a", "three")
    assert browser.texts(".scores dt span:last-child") == ["three", "one"]
    browser.pick("#list-run-a", "two")
    assert browser.texts(".scores dt span:last-child") == ["two", "one"]
    browser.pick("#list-run-a", "three")
    browser.click("#swap")
    assert browser.texts(".scores dt span:last-child") == ["one", "three"]
    browser.pick("#measure", "AP")
    assert browser.texts(".scores dd")[0] == f"{data['queries']['values'][1][0][3]:.4f}"


def test_a_link_restores_the_page_and_the_back_button_works(browser: Page, plain: Path):
    browser.open(plain, "#queries")
    browser.click("[data-sort=random]")
    browser.click("[data-sort=random]")
    browser.click("#differ")
    browser.find("#search").send_keys("find")
    browser.click("#table tbody tr:nth-child(2) .col-text")
    before = (browser.column("id"), browser.find("#detail-title").text)
    link = browser.run("location.hash")

    browser.open(plain, link)
    assert (browser.column("id"), browser.find("#detail-title").text) == before
    assert browser.find("#search").get_attribute("value") == "find"
    browser.press("j")
    assert browser.find("#detail-title").text == browser.column("text")[1]
    browser.press(Keys.ESCAPE)
    browser.wait(
        lambda: browser.run("document.querySelector('#detail').hidden"), "the query closes"
    )
    browser.browser.back()
    browser.wait(
        lambda: not browser.run("document.querySelector('#detail').hidden"), "the query opens again"
    )
    assert browser.find("#detail-title").text == browser.column("text")[1]


def test_the_keyboard_does_everything(browser: Page, plain: Path):
    browser.open(plain, "#queries")
    order = browser.column("id")

    browser.press("jjk" + Keys.ARROW_DOWN + Keys.ENTER)
    assert browser.find("#detail .query-id").text == order[1]
    browser.press("j")
    assert browser.find("#detail .query-id").text == order[2]
    browser.press(Keys.ESCAPE)
    assert browser.run("document.querySelector('#detail').hidden")
    assert browser.run("document.activeElement.textContent") == order[2]
    browser.press("/")
    assert browser.run("document.activeElement.id") == "search"
    browser.press("7" + Keys.ENTER)
    browser.press("s")
    assert browser.find("#presets [aria-pressed=true]").text == "Biggest gain"
    browser.press("?")
    assert browser.run("document.querySelector('#help').open")
    browser.press(Keys.ESCAPE)
    assert not browser.run("document.querySelector('#help').open")
    browser.press("o")
    assert browser.find("#overview").is_displayed()
    assert browser.complaints() == []


def test_the_rows_shown_are_downloaded(browser: Page, hostile: Path):
    browser.open(hostile, "#queries?sort=id&flag=no+relevant&flag=tie+at+the+cut")
    shown = browser.run(
        "Array.from(document.querySelectorAll('#table tr.row'), each => Number(each.dataset.query))"
    )
    data = world()

    browser.click("#save-csv")
    browser.click("#save-jsonl")
    found = {kind: browser.downloads / f"queries.{kind}" for kind in ("csv", "jsonl")}
    browser.wait(
        lambda: all(path.exists() and path.stat().st_size for path in found.values()),
        "two downloads",
    )
    rows = list(csv.DictReader(io.StringIO(found["csv"].read_text(encoding="utf-8"), newline="")))
    lines = [
        json.loads(line)
        for line in re.split("\n", found["jsonl"].read_text(encoding="utf-8"))
        if line
    ]

    assert (
        [row["query"] for row in rows]
        == [line["query"] for line in lines]
        == [HOSTILE[query] for query in shown]
        != []
    )
    for row, line, query in zip(rows, lines, shown, strict=True):
        assert (
            float(row["difference"])
            == line["difference"]
            == pytest.approx(delta(data)(query), abs=1e-9)
        )
        assert row["run_b"] == line["run_b"] == HOSTILE[0]
        assert row["measure"] == "nDCG@10"


def test_both_themes_are_readable_and_kept(browser: Page, plain: Path):
    grounds = {}
    for theme in ("light", "dark"):
        browser.open(plain, f"#overview?theme={theme}")
        browser.wait(lambda: browser.texts(".chart svg"), "a chart")
        for selector in (".lead h1", ".note", ".figures .interval", ".evidence", ".figures a"):
            assert contrast(browser, selector) >= 4.5, (theme, selector)
        grounds[theme] = browser.run("getComputedStyle(document.body).backgroundColor")
    assert grounds["light"] != grounds["dark"]

    fill = "getComputedStyle(document.querySelector('.chart .mark-rect path')).fill"
    dark = browser.run(fill)
    browser.press("t")
    browser.wait(
        lambda: browser.run("location.hash").endswith("theme=light"), "the address keeps the theme"
    )
    assert browser.run("getComputedStyle(document.body).backgroundColor") == grounds["light"]
    assert browser.run(fill) != dark


@pytest.mark.parametrize("theme", [0, 1])
def test_right_and_wrong_stand_out_and_differ_without_their_colours(theme: int):
    """WCAG's contrast of 4.5 for every colour that writes on every ground that it is on; states
    have different shapes.
    """
    assets = files("rankwell.reporting.page") / "assets"
    style = (assets / "base.css").read_text(encoding="utf-8")
    palette = {
        name: "rgb({}, {}, {})".format(
            *(int(both[theme][place : place + 2], 16) for place in (1, 3, 5))
        )
        for name, *both in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", style)
    }
    grounds = ["ground", "surface", "raised", "accent-soft", "good-soft", "bad-soft"]
    for ink in ("ink", "quiet", "accent", "good", "bad", "unknown"):
        for ground in grounds:
            dark, light = sorted(luminance(palette[each]) for each in (ink, ground))
            assert (light + 0.05) / (dark + 0.05) >= (
                4.5 if ink != "unknown" or ground == "ground" else 3
            ), (ink, ground)
    shapes = re.findall(
        r"^  (\w+): \(\) => \[(.*?)\],$",
        (assets / "dom.js").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    assert {state for state, _ in shapes} == {"relevant", "nonrelevant", "unjudged", "junk"}
    assert len({shape for _, shape in shapes}) == 4


def contrast(browser: Page, selector: str) -> float:
    """The contrast of a text with the page behind it, as WCAG 2 defines it."""
    ink, ground = browser.run(
        "[getComputedStyle(document.querySelector(arguments[0])).color, "
        "getComputedStyle(document.body).backgroundColor]",
        selector,
    )
    light = sorted(luminance(colour) for colour in (ink, ground))
    return (light[1] + 0.05) / (light[0] + 0.05)


def luminance(colour: str) -> float:
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_nothing_that_is_shown_is_run(browser: Page, hostile: Path):
    browser.open(hostile)
    assert HOSTILE[0] in browser.find("h1").text
    browser.press("q")
    browser.click("#table thead [data-sort=id]")
    assert set(HOSTILE[:2]) <= set(browser.column("id"))
    for text in HOSTILE[:6]:
        browser.run(
            "location.hash = '#queries?' + new URLSearchParams({query: arguments[0]})", text
        )
        browser.wait(
            lambda text=text: browser.texts("#detail-title") == [f"{text} number"],
            f"the query {text} opens",
        )
        assert set(browser.texts(".item-id")) & set(HOSTILE)

    assert browser.run("window.ran") is None
    assert (
        browser.run("document.querySelectorAll('main img, main script, main iframe').length") == 0
    )
    assert browser.complaints() == []


def test_the_policy_stops_what_is_not_of_the_page(browser: Page, plain: Path, tmp_path: Path):
    changed = tmp_path / "report.html"
    changed.write_text(
        plain.read_text(encoding="utf-8").replace(
            "</main>", "<script>window.ran = 1</script><i onclick='window.ran = 2'></i></main>", 1
        )
    )
    browser.open(changed)

    browser.run("document.querySelector('i')?.click()")
    assert browser.run("window.ran") is None
    assert any("Content Security Policy" in message for message in browser.complaints())
    # A driver's own scripts may use eval; a timer's text is held to the policy.
    browser.run("new Promise(done => { setTimeout('window.ran = 3'); setTimeout(done, 20) })")
    assert browser.run("window.ran") is None
    assert (
        browser.run("fetch('https://example.org').then(() => 'went', () => 'refused')") == "refused"
    )


def test_seven_thousand_queries_scroll_with_few_rows_built(browser: Page, tmp_path: Path):
    data = world(n=7000, listed=3)
    browser.open(written(tmp_path, data), "#queries?sort=id")
    browser.run(
        "window.frame = () => new Promise(done => requestAnimationFrame(() => "
        "requestAnimationFrame(done)))"
    )
    scroll = (
        "(scroller => { scroller.scrollTop = arguments[0] * scroller.scrollHeight "
        "})(document.querySelector('#scroller'))"
    )
    middle = "document.elementFromPoint(640, 600).closest('tr.row')?.dataset.query"

    for share in (0, 0.25, 0.5, 0.75, 1):
        browser.run(scroll, share)
        browser.run("frame()")
        assert abs(int(browser.run(middle)) - share * 7000) < 30
        assert len(browser.texts("#table tbody tr")) < 100
    browser.find("#search").send_keys("number 6999")
    assert browser.column("id") == ["q6999"]
    browser.click("#table tbody .col-text")
    assert "The first ones have lists." in browser.find("#detail .empty").text


def test_lists_beside_the_page_are_loaded_when_they_are_opened(browser: Page, tmp_path: Path):
    data = world()
    folder = tmp_path / "report_data"
    folder.mkdir()
    items = {
        str(place): {"text": text, "thumbnail": None}
        for place, text in enumerate(data["items"].pop("text"))
    }
    (folder / "000.js").write_text(
        f"rankwellPart({json.dumps({'lists': data['lists'], 'items': items})});", encoding="utf-8"
    )
    data["parts"] = [["report_data/000.js", 0, 19], ["report_data/001.js", 20, 39]]
    data["lists"], data["items"] = {}, {"id": data["items"]["id"]}
    page = written(tmp_path, data, parted=True)

    browser.open(page, "#queries?query=q0003")
    browser.wait(lambda: len(browser.texts(".card-row")) == 12, "lists")
    assert browser.texts(".snippet")[0].startswith("document of the")
    assert browser.complaints() == []
    browser.open(page, "#queries?query=q0030")
    browser.wait(lambda: browser.texts("#detail [role=alert]"), "a sentence about the file")
    assert "report_data/001.js" in browser.find("#detail [role=alert]").text


def test_a_single_run_has_one_list_and_no_differences(browser: Page, tmp_path: Path):
    browser.open(written(tmp_path, world(runs=["bm25"])), "#queries?query=q0002")

    assert browser.texts(".ranked .run-name") == ["bm25"]
    assert browser.column("b") == browser.column("delta") == []
    assert [
        browser.run(f"document.querySelector('{each}').hidden")
        for each in ("#swap", "label[for=run-b]")
    ] == [True, True]
    browser.press(Keys.ESCAPE + "sx")
    assert browser.complaints() == []


def test_nothing_sticks_out_on_a_phone(browser: Page, hostile: Path):
    browser.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 380, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        for address in ("#overview", "#queries", "#queries?sort=id&query=q0009"):
            browser.open(hostile, address)
            assert browser.run("document.documentElement.scrollWidth") <= 380, address
        assert browser.run("document.querySelector('.lines').getBoundingClientRect().width") == 0
        left, right = (browser.find(f".side-{side}").rect for side in "ab")
        assert right["y"] >= left["y"] + left["height"]
    finally:
        browser.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_lists_that_differ_most_and_unjudged_results_come_first_where_asked(
    browser: Page, tmp_path: Path
):
    """Against rank-biased overlap as it is defined, depth by depth, and counts of the data."""
    data = world()
    data["queries"]["unjudged"] = [
        [query % 4 for query in range(40)],
        [query % 7 for query in range(40)],
    ]
    lists = {
        int(query): [[row[0] for row in rows if row[1] is not None] for rows in both]
        for query, both in data["lists"].items()
    }

    def overlap(query: int) -> float:
        a, b = lists[query]
        shares = [len(set(a[:depth]) & set(b[:depth])) / depth for depth in range(1, len(a) + 1)]
        return (0.1 / 0.9) * sum(
            share * 0.9**depth for depth, share in enumerate(shares, 1)
        ) + shares[-1] * 0.9 ** len(a)

    browser.open(written(tmp_path, data), "#queries")
    browser.click("#presets [data-sort=apart]")
    shown = browser.column("id")
    assert shown == expected_order(data, lambda query: round(overlap(query), 9))[: len(shown)]
    places = [data["queries"]["id"].index(query) for query in shown]
    assert browser.column("apart") == [f"{overlap(query):.2f}" for query in places]
    assert browser.texts("th[aria-sort=ascending]") == ["Overlap"]

    browser.click("#presets [data-sort=unjudged]")
    shown = browser.column("id")
    assert shown == expected_order(data, lambda query: -(query % 4 + query % 7))[: len(shown)]
    browser.click("#table thead [data-sort=unjudged]")
    assert browser.column("unjudged")[0] == "0"
    assert browser.complaints() == []


def test_orders_by_lists_and_judging_are_offered_where_they_are_known(
    browser: Page, plain: Path, tmp_path: Path
):
    browser.open(plain, "#queries")
    assert browser.texts("#presets button") == [
        "Worst",
        "Biggest loss",
        "Biggest gain",
        "Lists differ",
        "Random",
    ]
    assert browser.run(
        "document.querySelector('#presets').scrollWidth <= "
        "document.querySelector('#presets').clientWidth"
    )
    browser.open(
        written(tmp_path, world() | {"parts": [["report_data/000.js", 0, 39]]}), "#queries"
    )
    assert "Lists differ" not in browser.texts("#presets button")
    browser.open(written(tmp_path, world(listed=0)), "#queries")
    assert browser.texts("#presets button") == ["Worst", "Biggest loss", "Biggest gain", "Random"]


def test_the_overview_has_a_histogram_that_leads_to_its_queries(browser: Page, plain: Path):
    data = world()
    browser.open(plain)
    drawing = browser.find("#spread-card .spread")
    counts = [int(title.split(" ")[0]) for title in browser.texts("#spread-card rect title")]
    assert sum(counts) == 40
    browser.run("arguments[0].scrollIntoView({block: 'center'})", drawing)
    width = drawing.size["width"]

    ActionChains(browser.browser).move_to_element_with_offset(
        drawing, 2, 0
    ).click_and_hold().move_by_offset(width // 3, 0).release().perform()

    low, high = (
        float(browser.find(f"#range-delta-{end}").get_attribute("value") or "nan")
        for end in ("from", "to")
    )
    passing = sum(low <= delta(data)(query) <= high for query in range(40))
    assert browser.find("#shown").text == f"{passing} of 40 queries"
    browser.browser.back()
    browser.wait(lambda: browser.find("#spread-card").is_displayed(), "the overview again")


def test_the_first_measure_is_one_that_both_runs_have(browser: Page, tmp_path: Path):
    """Runs of different kinds, a retriever and two readers, share only some measures."""
    data = world(runs=["retriever", "reader", "other reader"])
    data["queries"]["values"][0][1:] = [[None] * 40, [None] * 40]
    data["queries"]["values"][1][0] = [None] * 40
    data["pair"] = [1, 2]
    browser.open(written(tmp_path, data), "#queries")
    chosen = [
        browser.run(f"document.querySelector('#{each}').selectedOptions[0].text")
        for each in ("measure", "run-a", "run-b")
    ]
    assert chosen == ["AP", "reader", "other reader"]


def test_who_fails_and_what_is_unjudged_lead_to_their_queries(browser: Page, tmp_path: Path):
    data = world() | {"protocol": "qa"}
    data["queries"]["attributes"] = {
        "failed": ["reader", "none"] * 20,
        "why": ["wrong answer", "right"] * 20,
    }
    data["queries"]["unjudged"] = [[query % 7 for query in range(40)] for _ in data["runs"]]
    rows = [("reader", "wrong answer", 20, 3), ("none", "right", 20, 20)]
    data["failures"] = [
        {"failed": a, "why": b, "n": n, "share": n / 40, "alone": alone} for a, b, n, alone in rows
    ]
    data["findings"] = [
        {
            "name": "unjudged-in-top",
            "level": "warning",
            "message": "Unjudged: 9.",
            "sort": "unjudged",
        }
    ]
    data["summary"] = [
        row | {"ceiling": 0.75, "chance": 0.125 * row["run"]} for row in data["summary"]
    ]
    browser.open(written(tmp_path, data))
    assert browser.texts("#overview .card h2")[0] == "Who fails where"
    assert browser.texts("#failures .stage") == ["reader 20", "none 20"]
    assert browser.texts("#scores thead th")[-2:] == ["Ceiling", "Chance"]
    assert browser.texts("#scores tbody tr:first-child td")[-2:] == ["0.750", "0.000–0.125"]
    bars = browser.run(
        "Array.from(document.querySelectorAll('.reason-bar'), each => "
        "each.getBoundingClientRect().width)"
    )
    assert bars[0] == pytest.approx(bars[1])
    browser.click("#failures .stage + a")
    assert browser.find("#shown").text == "20 of 40 queries"
    assert browser.texts("#active .chip") == ["failed by: reader", "why: wrong answer"]
    assert browser.texts("#filters .attribute label") == [
        *("failed by", "why"),
        *(f"first right in {run}" for run in data["runs"]),
        "outcome",
    ]
    # The worst of A come first: B is what it is compared with.
    assert (
        browser.find("#presets [data-sort=worst]").get_attribute("title")
        == "Worst value of A first"
    )
    shown = browser.run(
        "Array.from(document.querySelectorAll('#table tr.row'), each => Number(each.dataset.query))"
    )
    values = [data["queries"]["values"][0][0][query] for query in shown]
    assert len(values) > 9
    assert values == sorted(values)
    browser.open(written(tmp_path, data))
    browser.click(".finding.warning")
    assert browser.find("#presets [data-sort=unjudged]").get_attribute("aria-pressed") == "true"
    assert browser.complaints() == []


def test_a_text_that_repeats_the_id_is_shown_once(browser: Page, tmp_path: Path):
    data = world()
    data["queries"]["text"] = [
        each if place % 2 else "a text of its own"
        for place, each in enumerate(data["queries"]["id"])
    ]
    browser.open(written(tmp_path, data), "#queries?query=q0003")
    assert browser.texts("#detail-title") == ["q0003"]
    assert browser.texts("#detail .query-id") == []
    browser.press(Keys.ESCAPE)
    assert set(browser.column("text")) == {"–", "a text of its own"}


def test_findings_are_in_the_method_and_levels_are_those_of_the_rules(
    browser: Page, tmp_path: Path
):
    data = world()
    messages = [f"finding {place}" for place in range(9)]
    data["findings"] = [
        {"name": "reading-choice", "level": "info", "message": message} for message in messages
    ]
    data["measures"][0]["definition"] = "as `--relevance all` counts it"
    data["rules"].append(["level", "0.99"])
    browser.open(written(tmp_path, data))
    assert "99 % CI" in browser.find(".evidence").text
    assert browser.texts(".finding")[-1] == "How this was measured, 9 more findings"
    browser.click("li:last-child > .finding")
    assert browser.find("#method").is_displayed()
    assert browser.texts(".all-findings li")[-9:] == messages
    assert browser.texts(".facts code") == ["--relevance all"]
    browser.press("o")
    assert browser.find("#overview").is_displayed()


@pytest.mark.parametrize("width", [1440, 900, 390])
def test_panels_fill_their_card_and_stay_within_it(browser: Page, tmp_path: Path, width: int):
    data = world()
    panel = {"mark": "point", "width": 250, "height": 40, "data": {"values": [{"x": 1}, {"x": 2}]}}
    panel["encoding"] = {"x": {"field": "x", "type": "quantitative"}}
    data["charts"] = [
        {"id": "c", "title": "Panels", "note": None, "spec": {"concat": [panel] * 4, "columns": 3}}
    ]
    path = written(tmp_path, data)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.open(path)
        measured = (
            "[document.querySelector('.chart svg')?.getBoundingClientRect().width, "
            "document.querySelector('.chart').clientWidth]"
        )

        def fills() -> bool:
            drawn, room = browser.run(measured)
            return drawn is not None and room - 12 <= drawn <= room

        browser.wait(fills, "panels as wide as there is room")
        assert browser.run(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    finally:
        browser.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextmanager
def width_of(browser: Page, width: int) -> Iterator[None]:
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        browser.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("order", ["loss", "apart", "unjudged"])
@pytest.mark.parametrize(("width", "address"), [(390, ""), (1440, "&query=q0003"), (1440, "")])
def test_heads_stand_above_their_columns(
    browser: Page, tmp_path: Path, order: str, width: int, address: str
):
    data = world()
    data["queries"]["unjudged"] = [[query % 4 for query in range(40)]] * 2
    page = written(tmp_path, data)
    ends = """Array.from(document.querySelectorAll('#table ' + arguments[0] + ' .number'))
        .filter(each => each.offsetParent).map(each => Math.round(each.getBoundingClientRect().right))"""  # noqa: E501
    with width_of(browser, width):
        browser.open(page, f"#queries?sort={order}{address}")
        browser.wait(lambda: browser.run(ends, "tbody tr.row"), "the rows")
        heads, cells = (browser.run(ends, part) for part in ("thead", "tbody tr.row:nth-child(2)"))
        assert heads == cells
        assert len(heads) >= 3
        browser.run("document.querySelector('#scroller').scrollTop = 300")
        assert browser.run(
            "document.querySelector('#table thead').getBoundingClientRect().top"
            " - document.querySelector('#scroller').getBoundingClientRect().top"
        ) == pytest.approx(1, abs=1)
        assert (
            browser.run(
                "document.querySelector('#scroller').scrollWidth - "
                "document.querySelector('#scroller').clientWidth"
            )
            == 0
        )


def test_a_difference_of_means_is_not_called_a_difference_of_medians(browser: Page, tmp_path: Path):
    data = world()
    place = data["differences"][0]["measure"]
    label = data["measures"][place]["label"]
    plain_heads, median_heads = [], []
    for heads, summary in ((plain_heads, "mean"), (median_heads, "median")):
        data["measures"][place]["summary"] = summary
        browser.open(written(tmp_path, data), "#overview")
        heads += browser.texts("#scores .whisker")

    assert label
    assert "(mean)" in median_heads[0]
    assert not any("(mean)" in head for head in plain_heads)


def test_every_sign_says_what_it_means(browser: Page, tmp_path: Path):
    data = world()
    data["queries"]["values"][0][1][3] = None
    data["lists"]["3"][1] = [
        row for row in data["lists"]["3"][1] if row[0] != data["lists"]["3"][0][0][0]
    ]
    data["differences"].append(
        {**data["differences"][0], "measure": 1, "low": None, "adjusted_p": None, "better": None}
    )
    page = written(tmp_path, data)
    signs = """Array.from(document.querySelectorAll('main *')).filter(each => !each.children.length && each.offsetParent)
        .filter(each => /^(–|[AB] (–|> \\d+|\\d+( [↑↓]\\d+)?))$/.test(each.textContent) && !each.closest('[aria-hidden=true]'))
        .map(each => [each.textContent, each.title, each.getAttribute('aria-label')])"""  # noqa: E501
    seen: dict[str, str] = {}
    for address in ("#overview", "#queries?sort=id", "#queries?sort=id&query=q0003"):
        browser.open(page, address)
        browser.wait(lambda: browser.run(signs), f"signs of {address}")
        for text, title, label in browser.run(signs):
            assert title, (address, text)
            assert title == label
            seen[re.sub(r"\d+", "0", text)] = title

    assert {"–", "B –", "B 0 ↓0", "A 0 ↑0"} <= set(seen), seen
    assert re.fullmatch(r"Rank \d+ in B, \d+ ranks? lower here", seen["B 0 ↓0"])
    browser.press("?")
    assert "B 9 ↑8" in browser.find("#help").text


def test_bars_are_as_high_as_their_counts_on_an_axis(browser: Page, tmp_path: Path):
    data = world()
    # Most queries are equal: their bar must not make that of a single query invisible, nor hide the
    # proportion.
    data["queries"]["values"][0][1] = [
        value if query in (1, 2, 3) else data["queries"]["values"][0][0][query]
        for query, value in enumerate(data["queries"]["values"][0][1])
    ]
    browser.open(written(tmp_path, data))
    bars = browser.run(
        """Array.from(document.querySelectorAll('#spread-card rect:not(.brush)'),
        each => [parseInt(each.textContent), Number(each.getAttribute('height'))])"""
    )
    assert sum(n for n, _ in bars) == 40
    (most, high), *rest = sorted(bars, reverse=True)
    assert most >= 37
    for n, height in rest:
        assert height == pytest.approx(max(2, high * n / most))
    labels = browser.texts("#spread-card svg > g > text")
    assert labels[:2] == ["0", "10"]
    assert {"40", "queries", "+0.05", "−0.05"} <= set(labels)
    with width_of(browser, 390):
        browser.wait(
            lambda: len(browser.texts("#spread-card svg > g > text")) < len(labels),
            "a chart with fewer labels",
        )
        assert (
            browser.run("document.querySelector('#spread-card svg').getBoundingClientRect().width")
            <= 360
        )


def write_note(browser: Page, page: Path, query: str, tags: str, note: str) -> None:
    browser.open(page, f"#queries?sort=id&query={query}")
    if not browser.find("#own-tags").is_displayed():
        browser.click(".own-fields summary")
    browser.find("#own-tags").send_keys(tags)
    browser.find("#own-note").send_keys(note)


def test_notes_and_tags_are_kept_filtered_and_downloaded(browser: Page, tmp_path: Path):
    (tmp_path / "other").mkdir()
    page, other = written(tmp_path, world()), written(tmp_path / "other", world(n=39))
    write_note(browser, page, "q0003", "hard, look again,hard", '=1+1 "quoted"\nsecond line')
    write_note(browser, page, "q0001", "hard", "")
    assert "Kept in this browser" in browser.find(".own-fields .note").text

    browser.open(page, "#queries?sort=id")
    assert [browser.texts(f"tr[data-query='{query}'] .own") for query in (1, 2, 3)] == [
        ["hard"],
        [],
        ["hard+1"],
    ]
    assert "=1+1" in (browser.find("tr[data-query='3'] .own").get_attribute("title") or "")
    assert browser.texts("#filters fieldset:last-child .check") == [
        "a note1",
        "hard2",
        "look again1",
    ]
    browser.click("#tag-1")
    assert browser.column("id") == ["q0001", "q0003"]
    browser.click("#tag-1")
    browser.click("#tag-0")
    assert browser.column("id") == ["q0003"]
    assert browser.texts("#active .chip") == ["a note"]

    browser.click("#save-notes")
    path = browser.downloads / "notes.csv"
    browser.wait(lambda: path.exists() and path.stat().st_size, "the download")
    assert list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))) == [
        ["query", "tags", "note"],
        ["q0001", "hard", ""],
        ["q0003", "hard; look again", '\'=1+1 "quoted"\nsecond line'],
    ]

    browser.open(other, "#queries?sort=id")
    assert browser.texts(".own") == []
    assert not browser.find("#save-notes").is_displayed()
    # What is taken away leaves nothing behind.
    for query in ("q0001", "q0003"):
        browser.open(page, f"#queries?query={query}")
        for box in ("#own-tags", "#own-note"):
            browser.find(box).send_keys(Keys.CONTROL + "a", Keys.BACKSPACE)
    assert (
        browser.run("Object.keys(localStorage).filter(each => each.startsWith('rankwell-notes'))")
        == []
    )
    assert browser.complaints() == []


def test_without_storage_notes_last_for_the_session_and_the_page_says_so(
    browser: Page, plain: Path
):
    denied = (
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('denied', "
        "'SecurityError'); }})"
    )
    script = browser.browser.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": denied}
    )
    try:
        write_note(browser, plain, "q0002", "hard", "why?")
        assert "last until it is closed" in browser.find(".own-fields .note").text
        browser.press(Keys.TAB + Keys.ESCAPE)
        browser.wait(
            lambda: browser.texts("tr[data-query='2'] .own") == ["hard"], "the tag in its row"
        )
        browser.click("tr[data-query='2'] a.id")
        assert browser.run("document.querySelector('#own-note').value") == "why?"
        assert browser.complaints() == []
    finally:
        browser.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


@pytest.mark.parametrize("width", [1440, 390])
def test_heads_of_systems_are_above_their_columns(browser: Page, tmp_path: Path, width: int):
    cells = [
        SystemFigure("a", data_set, 80.0, 4)
        for data_set in ("paintings", "cabinets", "another data set", "the last")
    ]
    page = tmp_path / "table.html"
    page.write_text(page_of_tables([SystemTable("P@1", "MP@1", cells)], []), encoding="utf-8")
    # Where the text of each cell ends; the first column begins with it.
    edges = """Array.from(document.querySelector(arguments[0]).children, (cell, place) => {
        const range = document.createRange();
        range.selectNodeContents(cell.querySelector("button") ?? cell);
        return Math.round(range.getBoundingClientRect()[place ? "right" : "left"]);
    })"""
    with width_of(browser, width):
        browser.open(page)
        assert browser.run(edges, "thead tr") == pytest.approx(
            browser.run(edges, "tbody tr"), abs=1
        )
        browser.run("document.querySelector('.wide').scrollLeft = 200")
        first = "Math.round(document.querySelector('tbody th').getBoundingClientRect().left)"
        assert browser.run(first) == browser.run(
            "Math.round(document.querySelector('.wide').getBoundingClientRect().left) + 1"
        )
        assert browser.run("document.documentElement.scrollWidth") <= width


def test_names_of_systems_break_between_their_words_only(browser: Page, tmp_path: Path):
    cells = [
        SystemFigure("first_sentences-of/docs", data_set, 80.0, 4)
        for data_set in ("paintings", "cabinets", "others")
    ]
    page = tmp_path / "table.html"
    page.write_text(page_of_tables([SystemTable("P@1", "MP@1", cells)], []), encoding="utf-8")
    # Pieces of text that are on one line, from the tops of single letters.
    lines = """(name => {
        const walker = document.createTreeWalker(name, NodeFilter.SHOW_TEXT), found = {};
        for (let node = walker.nextNode(); node; node = walker.nextNode())
            for (let place = 0; place < node.length; place += 1) {
                const range = document.createRange();
                range.setStart(node, place);
                range.setEnd(node, place + 1);
                const top = Math.round(range.getBoundingClientRect().top);
                found[top] = (found[top] ?? "") + node.data[place];
            }
        return Object.values(found);
    })(document.querySelector("tbody th"))"""
    with width_of(browser, 390):
        browser.open(page)
        found = browser.run(lines)
    assert len(found) > 1
    assert all(line[-1] in "_-/" for line in found[:-1])


def test_bars_of_differences_share_their_axis(browser: Page, plain: Path):
    browser.open(plain, "#queries?sort=id")

    axes = browser.run(
        "Array.from(document.querySelectorAll('.delta-bar .zero'), each => "
        "Math.round(each.getBoundingClientRect().left))"
    )
    assert "0.0000" in browser.texts(".col-delta span")
    assert len(axes) > 10
    assert len(set(axes)) == 1


def test_the_page_of_systems_sorts_and_changes_its_theme(browser: Page, tmp_path: Path):
    figures = {"b": 9.5, "a": 80.0, "c": 10.25, "none": None}
    cells = [
        SystemFigure(name, "m", mean, 4, gap="" if mean else "failed")
        for name, mean in figures.items()
    ]
    page = tmp_path / "table.html"
    page.write_text(page_of_tables([SystemTable("P@1", "MP@1", cells)], []), encoding="utf-8")
    browser.open(page)
    names = (
        "Array.from(document.querySelectorAll('tbody tr'), each => "
        "each.children[0].firstChild.textContent.trim())"
    )
    orders = {
        "thead th:nth-child(2) button": [["a", "c", "b", "none"], ["b", "c", "a", "none"]],
        "thead th:nth-child(1) button": [["a", "b", "c", "none"], ["none", "c", "b", "a"]],
    }
    for selector, expected in orders.items():
        for way, order in zip(
            ("descending", "ascending") if "2" in selector else ("ascending", "descending"),
            expected,
            strict=True,
        ):
            browser.click(selector)
            assert browser.run(names) == order
            assert browser.run(
                "Array.from(document.querySelectorAll('[aria-sort]'), each => each.ariaSort)"
            ) == [way]
    ground = "getComputedStyle(document.body).backgroundColor"
    before = browser.run(ground)
    browser.click("#theme")
    assert browser.run(ground) != before
    assert browser.complaints() == []
