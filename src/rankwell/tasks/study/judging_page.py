"""The page of a judge: frame, styles and scripts in one document, which its policy allows by their
hashes.
"""

import html
import re
from importlib.resources import files
from typing import NamedTuple

from rankwell.reporting.page.scripts import embeddable, join_modules, source_hash

_MARK = re.compile(r"\{\{(\w+)\}\}")
_STYLES = (
    "reporting/page/assets/base.css",
    "reporting/page/assets/header.css",
    "tasks/study/assets/judging.css",
)
_FIXED = "base-uri 'none'; form-action 'none'"


class JudgingPage(NamedTuple):
    """A document and its policy."""

    text: str
    policy: str


def judging_page(title: str, batch: str = "null") -> JudgingPage:
    """The page. batch: JSON of all items for a page without a server, whose policy then allows no
    connections at all.
    """
    package, is_offline = files("rankwell"), batch != "null"
    style = "".join(
        package.joinpath(*name.split("/")).read_text(encoding="utf-8") for name in _STYLES
    )
    entry = f"tasks/study/assets/{'offline' if is_offline else 'online'}.js"
    script = embeddable(f'(() => {{\n"use strict";\n{join_modules(package, [entry])}}})();\n')
    sources = "img-src data:" if is_offline else "connect-src 'self'; img-src 'self' data:"
    policy = (
        f"default-src 'none'; {sources}; script-src {source_hash(script)}; style-src "
        f"{source_hash(style)}; {_FIXED}"
    )
    filled = {
        "title": html.escape(title),
        "policy": html.escape(policy, quote=False),
        "style": style,
        "script": script,
    }
    frame = (package / "tasks/study/assets/judging.html").read_text(encoding="utf-8")
    filled["batch"] = batch
    return JudgingPage(_MARK.sub(lambda mark: filled[mark[1]], frame), policy)
