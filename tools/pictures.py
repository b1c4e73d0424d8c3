"""Takes the pictures of docs/pictures: python tools/pictures.py, after `make gallery`; needs
chromium.

Pages are those of the gallery, and terminals are typed.
"""

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.text import Text

from gallery import report_file
from typed_pages import DOCS, recorded, terminal, typed

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from browsing import Page, chromium

PICTURES = DOCS / "pictures"
PAGES = {
    "comparison": ("runs", "overview"),
    "queries": ("runs", "queries"),
    **{
        name: (name, "overview")
        for name in ("embeddings", "crossmodal", "qa", "keywords", "images", "engine")
    },
}
"""A demo, and the view of its page, by the picture's name."""
TERMINALS = {
    "terminal": (
        "rankwell compare demo/qrels.txt demo/first_sentences.run demo/whole_docs.run -m "
        "nDCG@10 -m AP --quiet",
    ),
    "cluster": (
        "rankwell knn base.npy queries.npy --neighbours 10 -o parts.run --shards 4 --executor "
        "array --work work --dry-run",
        "rankwell worker work --status",
    ),
}
"""The commands that a terminal shows, by the picture's name."""
SCREEN = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}


def take_page(name: str) -> None:
    """Writes the first screen of a page of results."""
    demo, view = PAGES[name]
    take_screen(name, f"{report_file(demo).as_uri()}#{view}")


def take_judging() -> None:
    """Writes the page on which the first item of the demo's study is judged."""
    with tempfile.TemporaryDirectory() as folder:
        browser = chromium(Path(folder))
        try:
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SCREEN)
            page = Page(browser, Path(folder)).open(report_file("judge"))
            page.wait(lambda: page.run("document.querySelector('#item-label')"), "an item appears")
            keep("judging", io.BytesIO(browser.get_screenshot_as_png()))
        finally:
            browser.quit()


def take_screen(name: str, address: str) -> None:
    """Writes the first screen of an address."""
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "page.png"
        words = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--hide-scrollbars",
        ]
        size = ["--window-size=1280,800", "--virtual-time-budget=5000", f"--screenshot={taken}"]
        subprocess.run(
            ["chromium", *words, *size, address],  # noqa: S607
            check=True,
            capture_output=True,
        )
        keep(name, taken)


def keep(name: str, taken: Path | io.BytesIO) -> None:
    """Writes a picture in 64 colours."""
    with Image.open(taken) as picture:
        picture.convert("RGB").quantize(64).save(PICTURES / f"{name}.png", optimize=True)


def take_terminal(name: str) -> None:
    """Writes what a terminal shows as SVG, in the fonts of the reader's system."""
    with tempfile.TemporaryDirectory() as folder:
        if name == "cluster":
            page = (DOCS / "guide" / "clusters.md").read_text(encoding="utf-8")
            recorded(page.partition("\n![")[0], Path(folder))
        with terminal(Path(folder)):
            if name == "terminal":
                typed("rankwell demo -o demo --quiet")
            shown = "\n".join(f"$ {command}\n{typed(command)}" for command in TERMINALS[name])
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(Text(shown.rstrip()), soft_wrap=False)
    title = " ".join(TERMINALS[name][-1].split()[:2])
    svg = console.export_svg(title=title, unique_id="rankwell")
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    (PICTURES / f"{name}.svg").write_text(
        "\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8"
    )


def main() -> None:
    """Takes every picture, or the named ones."""
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or [*PAGES, *TERMINALS, "judging"]:
        if name == "judging":
            take_judging()
        elif name in TERMINALS:
            take_terminal(name)
        else:
            take_page(name)


if __name__ == "__main__":
    main()
