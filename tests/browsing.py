"""A browser without window and network, driven by the tests of the page."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("selenium")

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

__all__ = ["CHROMIUM", "DRIVER", "ActionChains", "Keys", "Page", "chromium"]

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
DRIVER = shutil.which("chromedriver")


def chromium(downloads: Path, *, profile: Path | None = None) -> webdriver.Chrome:
    """Chromium with the driver that is installed: selenium is kept from fetching another. Nothing
    outside can be reached.

    profile: a folder whose data outlive the browser.
    """
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "disable-background-networking",
        "disable-dev-shm-usage",
    ):
        options.add_argument(f"--{flag}")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    options.add_argument("--window-size=1440,900")
    if profile is not None:
        options.add_argument(f"--user-data-dir={profile}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    os.environ["SE_OFFLINE"] = "true"
    return webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=DRIVER)
    )


class Page:
    """A browser with a page of rankwell in it, and what the tests ask of it."""

    def __init__(self, browser: webdriver.Chrome, downloads: Path):
        self.browser, self.downloads = browser, downloads

    def open(self, path: Path, address: str = "") -> "Page":
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get(path.as_uri() + address)
        return self

    def run(self, script: str, *given: Any) -> Any:
        return self.browser.execute_script(f"return {script}", *given)

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector: str) -> None:
        self.find(selector).click()

    def texts(self, selector: str) -> list[str]:
        return self.run(
            "Array.from(document.querySelectorAll(arguments[0]), each => each.textContent)",
            selector,
        )

    def column(self, name: str) -> list[str]:
        return self.texts(f"#table tbody .col-{name}")

    def press(self, keys: str) -> None:
        ActionChains(self.browser).send_keys(keys).perform()

    def pick(self, select: str, text: str) -> None:
        self.find(select).find_element(By.XPATH, f"./option[.='{text}']").click()

    def wait(self, true: Callable[[], Any], what: str) -> Any:
        end = time.monotonic() + 10
        while not (found := true()):
            assert time.monotonic() < end, f"never happened: {what}"
            time.sleep(0.02)
        return found

    def complaints(self) -> list[str]:
        """What the browser has written to its console."""
        return [entry["message"] for entry in self.browser.get_log("browser")]
