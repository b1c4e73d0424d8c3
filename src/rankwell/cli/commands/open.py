"""Open a report in the browser."""

import webbrowser
from pathlib import Path

from rankwell.errors import BadInput
from rankwell.io.result_folder import other_place
from rankwell.reporting.options import Output
from rankwell.reporting.page import NAME
from rankwell.store import remote_url


def open(  # noqa: A001
    place: Path = Path(), /, *, browser: bool = True
) -> Output:
    """Open a report in the browser.

    The page is report.html, as `rankwell report` and `rankwell compare -o` write it.

      rankwell open results

    Parameters
    ----------
    place
        A folder with a page, or the page itself.
    browser
        Open it; with --no-browser only its path is printed.
    """
    if remote_url(place) is not None:
        raise BadInput(other_place(place))
    page = place / NAME if place.is_dir() else place
    if not page.is_file():
        problem = f"there is no {NAME} in {place}" if place.is_dir() else f"{place}: no such file"
        raise BadInput(
            f"{problem}; `rankwell report DIR` writes one for a folder that a command wrote with "
            "-o."
        )
    opened = browser and webbrowser.open(page.resolve().as_uri())
    notes = () if opened or not browser else ("no browser could be started; open the file by hand",)
    return Output(text=str(page), notes=notes)
