"""The charts of a page in a real browser: they fit their place, and stay legible."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium")

from browsing import Page
from rankwell import evaluate
from rankwell.comparison.pages import write_report
from rankwell.reporting.folder import write_result

SIZES = """[...document.querySelectorAll('.chart')].map(each => {
    const drawn = each.querySelector('svg');
    return [each.dataset.chart, drawn?.getBoundingClientRect().width, drawn?.viewBox.baseVal.width, each.clientWidth];
})"""  # noqa: E501


@pytest.mark.parametrize("width", [390, 1280])
def test_charts_of_runs_with_long_names_fit_and_are_not_scaled(
    browser: Page, tmp_path: Path, width: int
) -> None:
    """Names at an axis, in a legend and on both sides of a plot."""
    qrels = {f"q{query}": {"a": 1, "b": 1} for query in range(12)}
    runs: dict[str, Any] = {}
    for place in range(4):
        name = f"a-system-with-quite-a-long-name-of-number-{place}"
        runs[name] = {
            query: {"a": 1.0, "b": float(at % (place + 2)), "c": 0.5, "d": 0.9}
            for at, query in enumerate(qrels)
        }
    write_result(evaluate(qrels, runs, ["P@1", "P@2", "P@4"], details=True), tmp_path, charts=False)
    ((page,), _) = write_report([tmp_path], tmp_path / "report.html")

    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    browser.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.open(page)
        browser.wait(
            lambda: all(drawn and drawn <= room for _, drawn, _, room in browser.run(SIZES)),
            "charts within their places",
        )
        found = browser.run(SIZES)
    finally:
        browser.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert {name for name, *_ in found} == {"k_curves", "critical_difference"}
    assert [own for _, _, own, _ in found] == pytest.approx(
        [drawn for _, drawn, _, _ in found], abs=1
    )
