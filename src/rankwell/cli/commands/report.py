"""Write a page of results, report.html: the verdict, every query, and the lists side by side. It
opens from disk, offline.
"""

from pathlib import Path

from rankwell.comparison.folders import split_name
from rankwell.comparison.pages import write_report
from rankwell.data.options import DocumentTexts, Pictures, QueryTexts
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.options import Seed
from rankwell.io.result_folder import other_place
from rankwell.reporting.options import Output, PageOption
from rankwell.reporting.page import NAME
from rankwell.store import is_file_name, refuse_blocked, remote_url


def report(
    *places: str,
    output: PageOption = None,
    documents: DocumentTexts = None,
    queries: QueryTexts = None,
    thumbnails: Pictures = None,
    title: str | None = None,
    seed: Seed = 0,
) -> Output:
    """Write a page of results, report.html: the verdict, every query, and the lists side by side.
    It opens from disk, offline.

    Several folders, and several runs in one, are compared as `rankwell compare` does it; of more
    than five runs each with the first alone.

    Parameters
    ----------
    places
        Folders of results (name=FOLDER renames what is in them).
    output
        The page to write, or the folder for it; by default it goes into the folder of results, or
        the first of several.
    title
        Title of the page; by default the names of the runs.
    """
    if not places:
        raise BadUsage("name a folder of results: rankwell report DIR, or several to compare them.")
    first = split_name(places[0])[1]
    if output is None and remote_url(first) is not None:
        raise BadInput(other_place(first))
    target = output if output is not None else Path(first)
    if target.suffix.lower() not in (".html", ".htm") or target.is_dir():
        problem = "is a file" if target.is_file() else "has the name of a file of another format"
        if target.is_file() or is_file_name(target):
            raise BadUsage(
                f"{target} {problem}, and a page is named *.html; name "
                f"{target.with_suffix('.html')}, or a folder."
            )
        target /= NAME
    refuse_blocked(target)
    written, notes = write_report(
        places,
        target,
        documents=documents,
        queries=queries,
        thumbnails=thumbnails,
        title=title,
        seed=seed,
    )
    return Output(text=str(written[0]), notes=tuple(notes))
