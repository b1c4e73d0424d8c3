"""The rules of axe-core, asked of a page in a browser."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from browsing import Page

AXE = Path(__file__).resolve().parent / "page" / "node_modules" / "axe-core" / "axe.min.js"
WCAG_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RULES = [*WCAG_AA, "best-practice"]
RUN = """const done = arguments[arguments.length - 1];
axe.run(document, {runOnly: arguments[0], resultTypes: ["violations"]}).then(
  ({violations}) => done(violations.flatMap(({id, nodes}) => nodes.map(each => `${id} ${each.target}: ${each.failureSummary}`))),
  error => done([String(error)]),
);"""  # noqa: E501


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, which `make check-page` installs."""
    if not AXE.is_file():
        pytest.skip("could not import axe-core: run make check-page first")
    return AXE.read_text(encoding="utf-8")


@contextmanager
def window(page: Page, width: int, height: int, scheme: str) -> Generator[None]:
    """The page in a window of a size, with a scheme of colours."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    page.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    try:
        yield
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def violations(page: Page, axe: str, rules: Sequence[str] = RULES) -> list[str]:
    """The elements that break a rule, each with the rule and the remedy."""
    if page.run("typeof axe === 'undefined'"):
        page.browser.execute_script(f"{axe}\nwindow.axe = axe;")
    return page.browser.execute_async_script(RUN, rules)
