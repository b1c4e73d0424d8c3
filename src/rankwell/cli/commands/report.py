"""Write an HTML report that shows every query side by side."""

from pathlib import Path

from rankwell.comparison.folders import split_name
from rankwell.comparison.pages import write_report
from rankwell.errors import BadInput, BadUsage
from rankwell.io.result_folder import other_place
from rankwell.reporting.options import Output, PageOption
from rankwell.reporting.page import NAME
from rankwell.store import is_file_name, refuse_blocked, remote_url


def report(
    *places: str,
    output: PageOption = None,
    documents: str | None = None,
    query_texts: str | None = None,
    thumbnails: str | None = None,
    title: str | None = None,
    seed: int = 0,
) -> Output:
    """Write an HTML report that shows every query side by side.

    The page begins with the verdict. It is one file and opens from disk, offline.

    Several folders, and several runs in one, are compared as `rankwell compare` does it; of
    more than five runs each with the first alone.

      rankwell report results

    Parameters
    ----------
    places
        Folders of results (name=FOLDER renames what is in them).
    output
        The page to write, or the folder for it; by default it goes into the folder of results, or
        the first of several.
    documents
        File of what the items say (a corpus as JSON lines, CSV, TSV or Parquet), for snippets.
    query_texts
        File of what the queries say, where `evaluate` was not given it; further columns are
        attributes to filter by.
    thumbnails
        Pictures of the items: a folder, or the place of each as 'img/{id}.jpg'.
    title
        Title of the page; by default the names of the runs.
    seed
        Seed of the comparison, and of the queries that are drawn where not all can have lists.
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
        query_texts=query_texts,
        thumbnails=thumbnails,
        title=title,
        seed=seed,
    )
    return Output(text=str(written[0]), notes=tuple(notes))
