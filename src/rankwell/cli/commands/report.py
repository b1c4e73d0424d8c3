"""Write an HTML report that shows every query side by side."""

import webbrowser
from pathlib import Path

from rankwell.comparison.pages import has_page, write_missing_pages, write_report
from rankwell.data.options import Pictures, ShownDocumentTexts, ShownQueryTexts
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.options import Seed
from rankwell.io.result_folder import folders_below, is_result_folder, other_place
from rankwell.reporting.options import Output, PageOption, Progress
from rankwell.reporting.page import NAME
from rankwell.store import is_file_name, refuse_blocked, remote_url, split_name


def report(
    *places: str,
    output: PageOption = None,
    documents: ShownDocumentTexts = None,
    queries: ShownQueryTexts = None,
    thumbnails: Pictures = None,
    title: str | None = None,
    seed: Seed = 0,
    open: bool = False,
    progress: Progress = None,
) -> Output:
    """Write an HTML report that shows every query side by side.

    The page begins with the verdict. It is one file and opens from disk, offline.

    Several folders, or several runs in one, are compared as in `rankwell compare`; with more than
    five runs, each is compared only with the first. In a folder with folders of results, such as
    that of a bench, each one without a page gets one.

      rankwell report results --open

    Parameters
    ----------
    places
        Folders of results (name=FOLDER renames what is in them).
    output
        The page to write, or the folder for it.
        [default: the folder of results, or the first of several]
    title
        Title of the page. [default: the names of the runs]
    open
        Open the page in a browser. An existing page of the results is kept, unless another option
        asks for a new one.
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
    further = (output, *places[1:], documents, queries, thumbnails, title)
    below = [] if any(further) or is_result_folder(first) else folders_below(Path(first))
    pages = [target]
    if below:
        write_missing_pages(below, progress)
        pages = [folder / NAME for folder in below]
        table = target.with_name("table.html")
        # The page of a demo, or the table of a bench, leads.
        page = next((path for path in (target, table) if path.is_file()), pages[0])
        again = f"`rankwell bench`, called again, links {table} to these pages"
        messages = [again] if table.is_file() else list[str]()
    elif open and not any(further) and not seed and has_page(target.parent):
        page, messages = target, list[str]()
    else:
        refuse_blocked(target)
        (page, *_), messages = write_report(
            places,
            target,
            documents=documents,
            queries=queries,
            thumbnails=thumbnails,
            title=title,
            seed=seed,
        )
    if open and not webbrowser.open(page.resolve().as_uri()):
        messages.append("no browser could be started; open the file by hand")
    return Output(text="\n".join(map(str, pages)), messages=tuple(messages))
