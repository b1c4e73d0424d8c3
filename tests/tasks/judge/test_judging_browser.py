"""The judging page in a real browser: by keys alone, in two windows, with hostile texts, killed at
any moment, and offline.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from browsing import Keys, Page, chromium
from rankwell.tasks.judge.folder import read_study
from rankwell.tasks.judge.judging_server import opening_file
from tasks.judge.judging import lines_of, serving
from tasks.judge.studies import judge, pool, pool_study, write_world


@contextmanager
def opened(browser: Page, study: Path, **options: Any) -> Generator[Page]:
    """A session in the browser, opened by its file."""
    path = study / "open-ann.html"
    with serving(study, **options) as server, opening_file(path, server.origin, server.token):
        browser.open(path)
        browser.wait(lambda: shown(browser), "an item appears")
        yield browser


def shown(page: Page) -> bool:
    return bool(
        page.run(
            "document.querySelector('#judging')?.hidden === false && "
            "document.querySelector('#item-label') !== null"
        )
    )


def judged(page: Page) -> int:
    """The number of judgments that the page has acknowledged."""
    found = re.match(r"\d+", page.run("document.querySelector('#judged')?.textContent ?? ''"))
    return int(found[0]) if found else 0


def contents(page: Page) -> str:
    """The query and the item on the page, or that there is a pause."""
    return page.run(
        "['#query', '#item', '#pause:not([hidden])'].map(each => "
        "document.querySelector(each)?.innerText).join('|')"
    )


def press_and_wait(page: Page, key: str) -> None:
    """Gives an answer, and waits until the page has gone on: keys do nothing before the next item
    is there.
    """
    before, shown_before = judged(page), contents(page)
    page.press(key)
    page.wait(lambda: judged(page) == before + 1, f"{key} is saved")
    page.wait(lambda: contents(page) != shown_before, "the next item appears")


def grades_of(study: Path) -> list[Any]:
    return [line.get("grade", line.get("action")) for line in lines_of(study)]


def test_a_hundred_items_are_judged_by_keys_alone(browser: Page, tmp_path: Path):
    write_world(tmp_path, queries=20)
    study = pool_study(tmp_path, batch_size=100)
    draw = Random(1)
    keys = [draw.choice("0123") for _ in range(100)]
    with opened(browser, study):
        assert browser.texts("main:not([hidden]) h1")[0].startswith("study · ann")
        for key in keys[:40]:
            press_and_wait(browser, key)
        browser.press("s")
        browser.wait(lambda: "Postponed" in browser.texts("#status")[0], "the item is postponed")
        browser.press("n")
        browser.press("half of it")
        browser.press(Keys.ESCAPE)
        browser.wait(lambda: "Note saved" in browser.texts("#status")[0], "the note is saved")
        press_and_wait(browser, "u")
        browser.press(Keys.BACKSPACE)
        browser.wait(
            lambda: "Cannot tell" in browser.texts("#status")[0], "the item before appears"
        )
        assert browser.run("document.querySelector('#note').value") == "half of it"
        browser.press("3")
        browser.wait(
            lambda: "Saved: perfectly" in browser.texts("#status")[0], "the answer is replaced"
        )
        for key in keys[41:99]:
            press_and_wait(browser, key)
        browser.wait(
            lambda: "postponed this" in browser.texts("#status")[0], "the postponed item comes last"
        )
        press_and_wait(browser, "s")
        browser.wait(
            lambda: browser.texts("#pause-title") == ["Batch 1 is finished"], "the batch ends"
        )
        browser.press(Keys.ENTER)
        browser.wait(lambda: shown(browser) and judged(browser) == 0, "the next batch begins")
        assert not browser.complaints()

    assert grades_of(study) == [
        *map(float, keys[:40]),
        "postpone",
        "note",
        "unknown",
        3.0,
        *map(float, keys[41:99]),
        "open",
    ]
    assert [line["note"] for line in lines_of(study) if line["note"]] == ["half of it"] * 3
    assert len({(line["query"], line["item"]) for line in lines_of(study)}) == 100
    assert all(0 <= line["seconds"] < 60 for line in lines_of(study))


def test_two_windows_never_overwrite_each_other(browser: Page, tmp_path: Path):
    write_world(tmp_path, queries=5)
    study = pool_study(tmp_path)
    with opened(browser, study):
        first = browser.browser.current_window_handle
        origin = browser.run("location.href")
        browser.browser.switch_to.new_window("tab")
        browser.browser.get(origin)
        browser.wait(lambda: shown(browser), "the second window has the item")
        second = browser.browser.current_window_handle
        browser.browser.switch_to.window(first)
        press_and_wait(browser, "2")
        browser.browser.switch_to.window(second)
        browser.press("0")
        browser.wait(lambda: "another window" in browser.texts("#status")[0], "the window notices")
        assert judged(browser) == 1
        press_and_wait(browser, "1")
        browser.browser.close()
        browser.browser.switch_to.window(first)

    assert grades_of(study) == [2.0, 1.0]
    assert len({line["item"] for line in lines_of(study)}) == 2


HOSTILE = {
    "d1": "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>",
    "d2": "مرحبا بالعالم \u202e backwards",
    "d3": "word " * 200_000,
    "d4": "<!--<script>",
}


def hostile_study(folder: Path) -> Path:
    """A query and four texts that are long, or would run, or turn the direction of writing; without
    pictures.
    """
    (folder / "q.jsonl").write_text(json.dumps({"id": "q", "text": "<b>what?</b>"}) + "\n")
    (folder / "d.jsonl").write_text(
        "".join(json.dumps({"id": item, "text": text}) + "\n" for item, text in HOSTILE.items())
    )
    for run, order in (("a", "1234"), ("b", "4321")):
        (folder / f"{run}.run").write_text(
            "".join(f"q Q0 d{n} {rank} {9 - rank} r\n" for rank, n in enumerate(order, 1))
        )
    (folder / "img").mkdir()
    texts = {
        "queries": str(folder / "q.jsonl"),
        "documents": str(folder / "d.jsonl"),
        "thumbnails": str(folder / "img"),
    }
    pool(
        str(folder / "a.run"),
        str(folder / "b.run"),
        output=folder / "study",
        grades="0=</script>,1=<i>yes</i>",
        **texts,
    )
    return folder / "study"


def see_hostile_texts(browser: Page) -> None:
    """Judges the four items, each displayed as it is written."""
    seen = list[str]()
    for _ in HOSTILE:
        browser.wait(lambda: browser.run("document.activeElement?.id") == "item", "an item appears")
        seen += browser.texts(".item-text")
        assert browser.texts(".query-text") == ["<b>what?</b>"]
        assert browser.texts(".no-picture span") == ["no file"]
        assert browser.texts("#grades span") == ["</script>", "<i>yes</i>"]
        press_and_wait(browser, "1")
    assert sorted(seen) == sorted(HOSTILE.values())
    assert browser.run("window.ran === undefined && document.scripts.length === 2")


def test_hostile_long_and_turned_texts_are_only_texts_and_nothing_is_requested_elsewhere(
    browser: Page, tmp_path: Path
):
    with opened(browser, hostile_study(tmp_path)):
        see_hostile_texts(browser)
        origin = browser.run("location.origin")
        requested = browser.run("performance.getEntriesByType('resource').map(each => each.name)")
        assert len(requested) >= 9
        assert all(each.startswith((f"{origin}/", "data:")) for each in requested)
        assert not browser.complaints()


def test_an_answer_that_cannot_be_saved_is_not_lost_from_sight(browser: Page, tmp_path: Path):
    write_world(tmp_path, queries=5)
    study = pool_study(tmp_path)
    with opened(browser, study):
        browser.wait(lambda: browser.run("document.activeElement?.id") == "item", "an item appears")
        text = browser.texts(".item-text")
    browser.press("2")
    browser.wait(lambda: "Not saved" in browser.texts("#status")[0], "the page reports it")

    assert browser.texts(".item-text") == text
    assert judged(browser) == 0
    assert lines_of(study) == []


def offline_page(folder: Path, queries: int = 10) -> tuple[Path, Path]:
    """A study and the offline page of its first batch."""
    write_world(folder, queries=queries)
    study = pool_study(folder, batch_size=60)
    judge(str(study), judge="ann", export=folder / "page.html")
    return study, folder / "page.html"


def downloaded(browser: Page, n: int) -> Path:
    path = browser.downloads / f"ann-batch-1-1-{n}.jsonl"
    browser.wait(path.is_file, f"{n} lines are downloaded")
    return path


def test_the_offline_page_keeps_judgments_and_their_downloads_merge(browser: Page, tmp_path: Path):
    study, page = offline_page(tmp_path)
    browser.open(page)
    browser.wait(lambda: shown(browser), "an item appears")
    for n in range(25):
        press_and_wait(browser, "0123"[n % 4])
    first = downloaded(browser, 25)
    browser.press("u")
    browser.wait(lambda: judged(browser) == 26, "one more is kept")
    assert not browser.complaints()
    browser.open(page)
    browser.wait(lambda: shown(browser), "the page opens again")
    assert judged(browser) == 26
    browser.click("#download")
    second = downloaded(browser, 26)

    notes = [
        judge(str(study), import_=str(path)).messages[0] for path in (first, second, first, second)
    ]

    assert [int(note.split()[0]) for note in notes] == [25, 1, 0, 0]
    assert grades_of(study) == [*(float(n % 4) for n in range(25)), "unknown"]
    named = {"study": {"name": "study", "identity": read_study(study).identity}}
    assert [json.loads(line) for line in second.read_text().splitlines()] == [
        line | named for line in lines_of(study)
    ]


def test_the_offline_page_shows_hostile_texts_as_they_are(browser: Page, tmp_path: Path):
    study = hostile_study(tmp_path)
    judge(str(study), judge="ann", export=tmp_path / "page.html")
    assert "connect-src" not in (tmp_path / "page.html").read_text().partition("<style>")[0]
    browser.open(tmp_path / "page.html")
    see_hostile_texts(browser)
    assert not browser.complaints()


class Killed:
    """A browser of its own that is killed with SIGKILL while a judge presses keys; acknowledged:
    judgments that its page had.
    """

    def __init__(self, folder: Path):
        self.driver = chromium(folder, profile=folder / "profile")
        self.page, self.acknowledged = Page(self.driver, folder), 0

    def judge_until_killed(
        self, seconds: float, then: subprocess.Popen[bytes] | None = None
    ) -> None:
        """Presses keys until the browser is killed, then the server."""
        timer = threading.Timer(seconds, self._kill)
        timer.start()
        with suppress(Exception):
            while True:
                self.page.press("1")
                self.acknowledged = max(self.acknowledged, judged(self.page))
        timer.join()
        with suppress(Exception):
            self.driver.quit()
        if then is not None:
            then.kill()
            then.wait()

    def _kill(self) -> None:
        """Kills the browser and its driver, and lets go of both."""
        process = self.driver.service.process
        for pid in (*descendants(process.pid), process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def descendants(pid: int) -> list[int]:
    """The processes below one, those of the browser below its driver."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found[1:]


KILLS = pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.server)]
)


@KILLS
@pytest.mark.skipif(sys.platform != "linux", reason="kills the browser's processes by their ids")
def test_what_the_page_acknowledged_survives_a_killed_browser_and_server(
    browser: Page, tmp_path: Path, kills: int
):
    write_world(tmp_path, queries=60)
    study = pool_study(tmp_path, batch_size=500)
    command = [sys.executable, "-m", "rankwell", "judge", "label", str(study), "--judge", "ann"]
    draw, acknowledged = Random(22), 0
    for _ in range(kills):
        (study / "open-ann.html").unlink(missing_ok=True)
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        killed = Killed(tmp_path)
        while not (study / "open-ann.html").exists():
            assert server.poll() is None
            time.sleep(0.02)
        killed.page.open(study / "open-ann.html")
        killed.page.wait(lambda page=killed.page: shown(page), "an item appears")
        assert judged(killed.page) >= acknowledged
        killed.judge_until_killed(draw.uniform(0.1, 0.6), server)
        acknowledged = max(acknowledged, killed.acknowledged)
        # A torn last line would be dropped by the next server, and was never acknowledged.
        lines = (
            (study / "judgments" / "ann.jsonl").read_bytes().split(b"\n")[:-1]
            if acknowledged
            else []
        )
        assert (
            len({(line["query"], line["item"]) for line in map(json.loads, lines)})
            == len(lines)
            >= acknowledged
        )
    assert acknowledged >= kills


@KILLS
@pytest.mark.skipif(sys.platform != "linux", reason="kills the browser's processes by their ids")
def test_what_the_offline_page_acknowledged_survives_a_killed_browser(
    browser: Page, tmp_path: Path, kills: int
):
    write_world(tmp_path, queries=60)
    study = pool_study(tmp_path, batch_size=500)
    judge(str(study), judge="ann", export=tmp_path / "page.html")
    draw, acknowledged = Random(22), 0
    for _ in range(kills):
        killed = Killed(tmp_path)
        killed.page.open(tmp_path / "page.html")
        killed.page.wait(lambda page=killed.page: shown(page), "an item appears")
        assert judged(killed.page) >= acknowledged
        killed.judge_until_killed(draw.uniform(0.1, 0.6))
        acknowledged = max(acknowledged, killed.acknowledged)
    assert acknowledged >= kills
