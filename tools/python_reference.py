"""The Python reference: a page for each subject with the public names of the package, whose
docstrings the site shows.
"""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

rankwell: Any = import_module("rankwell")
_TITLES: Mapping[str, str] = {
    "results": "Evaluate, compare, save",
    "measures": "Measures",
    "data": "Files and data",
    "errors": "Errors",
    "embeddings": "Embedding models",
    "qa": "Question answering",
    "beyond": "Beyond accuracy",
    "crossmodal": "Text and video, text and images",
    "keywords": "Clips and keywords",
    "images": "Image search",
    "clicks": "Clicks and interleaving",
    "rag": "RAG",
    "engine": "Live engines",
}
_SUBJECTS: Mapping[str, str] = {
    "rankwell.errors": "errors",
    "rankwell.io": "data",
    "rankwell.data.tables": "data",
    "rankwell.data": "measures",
    "rankwell.measures": "measures",
    "rankwell.tasks.runs": "results",
    "rankwell.files.writing": "data",
}
"""Subjects of packages, the innermost package first; that of a task is the task, and all others are
results.
"""


def _subject(home: str) -> str:
    known = next(
        (subject for package, subject in _SUBJECTS.items() if f"{home}.".startswith(f"{package}.")),
        None,
    )
    return known or (home.split(".")[2] if home.startswith("rankwell.tasks.") else "results")


def python_pages() -> dict[str, str]:
    """Pages by their place in docs/. Ends for a public name without a docstring."""
    homes = {
        name: home
        for name, home in rankwell._homes().items()
        if inspect.getdoc(getattr(rankwell, name))
    }
    if undocumented := sorted(rankwell._homes().keys() - homes.keys()):
        raise SystemExit(
            f"rankwell.{undocumented[0]} has no docstring; write one, since the Python "
            "reference shows it"
        )
    if untitled := {*map(_subject, homes.values())} - set(_TITLES):
        raise SystemExit(f"tools/python_reference.py: add a title for {', '.join(untitled)}")
    pages = {"reference/python/index.md": _index(homes)}
    for subject, title in _TITLES.items():
        names = sorted(
            (name for name, home in homes.items() if _subject(home) == subject), key=str.lower
        )
        names = sorted(names, key=lambda name: name[0].isupper())
        blocks = [f"::: rankwell.{name}" for name in names]
        pages[f"reference/python/{subject}.md"] = "\n\n".join([f"# {title}", _NOTE, *blocks])
    return pages


_NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"


def _index(homes: Mapping[str, str]) -> str:
    rows = [
        f"| [`{name}`]({_subject(home)}.md#rankwell.{name}) | {_first_line(name)} |"
        for name, home in sorted(
            homes.items(), key=lambda each: (each[0][0].isupper(), each[0].lower())
        )
    ]
    head = (
        f"# Python\n\n{_NOTE}\n\nThe public names of `import rankwell as rw`. Each is loaded on "
        "first use.\n"
    )
    return "\n".join([head, "| name | meaning |", "| --- | --- |", *rows])


def _first_line(name: str) -> str:
    """The first paragraph of a docstring as the cell of a table."""
    paragraph = (inspect.getdoc(getattr(rankwell, name)) or "").split("\n\n")[0].replace("\n", " ")
    return paragraph.replace("|", "\\|")
