"""The judging page by the rules of axe-core, on a desk, a tablet, at 200 % zoom and on a phone;
what a screen reader hears.
"""

from pathlib import Path
from typing import Any

import pytest

from accessibility import axe, violations, window
from browsing import Keys, Page
from tasks.judge.judging import lines_of
from tasks.judge.studies import judge, pool_study, write_world
from tasks.judge.test_judging_browser import opened, press_and_wait, shown

__all__ = ["axe"]

WINDOWS = {
    "desk": (1440, 900),
    "tablet": (820, 1180),
    "desk at 200 %": (720, 450),
    "phone": (390, 844),
}
GUIDELINE = "# How to judge\n" + "\n".join(
    f"* point {n} of a guideline that is longer than its box is high" for n in range(60)
)


def study_of(folder: Path, **options: Any) -> Path:
    write_world(folder, queries=5)
    (folder / "guideline.md").write_text(GUIDELINE)
    return pool_study(folder, guideline=str(folder / "guideline.md"), **options)


@pytest.mark.parametrize("size", WINDOWS.values(), ids=list(WINDOWS))
def test_the_page_breaks_no_rule_and_everything_is_in_reach(
    browser: Page, axe: str, tmp_path: Path, size: tuple[int, int]
):
    with opened(browser, study_of(tmp_path)):
        browser.run("document.querySelector('#guideline').open = true")
        with window(browser, *size, "dark"):
            assert violations(browser, axe) == []
        with window(browser, *size, "light"):
            browser.press("n")
            assert violations(browser, axe) == []
            assert browser.run("document.documentElement.scrollWidth <= innerWidth")
            browser.run("document.querySelector('#answers').scrollIntoView(false)")
            assert browser.run(
                "[...document.querySelectorAll('#answers button')].every(each => {const "
                "{left, right, bottom} ="
                " each.getBoundingClientRect(); return left >= 0 && right <= innerWidth && "
                "bottom <= innerHeight;})"
            )
            browser.press(f"{Keys.ESCAPE}?")
            assert browser.run("document.querySelector('#help').open")
            assert violations(browser, axe) == []
            browser.press(Keys.ESCAPE)


def test_a_screen_reader_hears_the_query_the_item_and_what_was_saved(
    browser: Page, axe: str, tmp_path: Path
):
    study = study_of(tmp_path, batch_size=5)
    with opened(browser, study):
        browser.wait(lambda: browser.run("document.activeElement?.id") == "item", "an item appears")
        [query] = browser.texts(".query-text")
        heard = browser.run("document.activeElement.getAttribute('aria-describedby')")
        assert browser.texts(f"#{heard}") == [query]
        press_and_wait(browser, "2")
        assert (
            browser.run("document.querySelector('[role=status][aria-live=polite]').textContent")
            == "Saved: relevant."
        )
        for _ in range(4):
            press_and_wait(browser, "1")
        browser.wait(
            lambda: browser.texts("#pause-title") == ["Batch 1 is finished"], "the batch ends"
        )
        assert browser.run("document.activeElement.id") == "pause"
        assert violations(browser, axe) == []

    assert len(lines_of(study)) == 5


def test_the_offline_page_and_missing_pictures_break_no_rule(
    browser: Page, axe: str, tmp_path: Path
):
    (tmp_path / "img").mkdir()
    judge(
        str(study_of(tmp_path, batch_size=1, thumbnails=str(tmp_path / "img"))),
        judge="ann",
        export=tmp_path / "page.html",
    )
    browser.open(tmp_path / "page.html")
    browser.wait(
        lambda: shown(browser) and browser.run("document.activeElement?.id") == "item",
        "an item appears",
    )
    assert browser.texts(".no-picture span") == ["no file"]
    assert violations(browser, axe) == []
    browser.press("1")
    browser.wait(lambda: browser.texts("#pause-title") == ["All items are judged"], "the end")
    assert violations(browser, axe) == []
