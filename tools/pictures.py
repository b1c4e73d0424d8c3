"""Takes the pictures of docs/pictures: python tools/pictures.py, after `make gallery`; needs chromium.

Pages of results are those of the gallery, the terminal is that of the README.
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
from tutorials import terminal, typed

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
PAGES = {
    "comparison": ("runs", "overview"),
    "queries": ("runs", "queries"),
    **{name: (name, "overview") for name in ("captions", "answers", "clips", "instances", "retrieve")},
}
"""A demo, and the view of its page, by the picture's name."""
COMMAND = "rankwell compare demo/qrels.txt demo/first_sentences.run demo/whole_docs.run -m nDCG@10 -m AP --quiet"


def take_page(name: str) -> None:
    """Writes the first screen of a page, in 64 colours."""
    demo, view = PAGES[name]
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "page.png"
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
        size = ["--window-size=1280,800", "--virtual-time-budget=5000", f"--screenshot={taken}"]
        subprocess.run(  # noqa: S603
            ["chromium", *words, *size, f"{report_file(demo).as_uri()}#{view}"],  # noqa: S607
            check=True,
            capture_output=True,
        )
        with Image.open(taken) as picture:
            picture.convert("RGB").quantize(64).save(PICTURES / f"{name}.png", optimize=True)


def take_terminal() -> None:
    """Writes what a terminal shows of a comparison as SVG, in the fonts of the reader's system."""
    with tempfile.TemporaryDirectory() as folder, terminal(Path(folder)):
        typed("rankwell demo -o demo --quiet")
        text = typed(COMMAND)
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(Text(f"$ {COMMAND}\n{text.rstrip()}"), soft_wrap=False)
    svg = console.export_svg(title="rankwell compare", unique_id="rankwell")
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    (PICTURES / "terminal.svg").write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8")


def main() -> None:
    """Takes every picture, or the named ones."""
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or [*PAGES, "terminal"]:
        take_terminal() if name == "terminal" else take_page(name)


if __name__ == "__main__":
    main()
