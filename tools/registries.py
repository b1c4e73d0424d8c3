"""The registries of the package and what their entries say of themselves, for the reference and the
contracts; the page docs/reference/methods.md.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from page_parts import NOTE, data, table
from rankwell.comparison.fusion import METHODS, NORMALISATIONS
from rankwell.conventions import CONVENTIONS
from rankwell.data.catalogue import Catalogue
from rankwell.data.findings import FINDINGS
from rankwell.data.registry import FIGURES, MEASURES, OWN_MEASURES
from rankwell.engines import ENGINES
from rankwell.io.formats import FORMATS
from rankwell.reporting import OUTPUTS
from rankwell.reporting.charts import CHARTS
from rankwell.runtime.executors import EXECUTORS
from rankwell.runtime.parts import KINDS
from rankwell.tasks.images.images import FORMS
from rankwell.tasks.qa.formats import ANSWER_FORMATS
from rankwell.vectors.encoders import ENCODERS, IMAGE_ENCODERS
from rankwell.vectors.neighbours import BACKENDS, Backend
from rankwell.vectors.transforms import TRANSFORMS

REGISTRIES: Mapping[str, Catalogue[Any] | Mapping[str, Any]] = {
    "measures": MEASURES,
    "figures": FIGURES,
    "formats": FORMATS,
    "formats of questions, answers and passages": ANSWER_FORMATS,
    "forms of image sets": FORMS,
    "conventions": CONVENTIONS,
    "findings": FINDINGS,
    "transforms": TRANSFORMS,
    "fusion methods": METHODS,
    "normalisations of fusion": NORMALISATIONS,
    "nearest-neighbour backends": BACKENDS,
    "engines": ENGINES,
    "executors": EXECUTORS,
    "kinds of parts": KINDS,
    "text encoders": ENCODERS,
    "image encoders": IMAGE_ENCODERS,
    "output formats": OUTPUTS,
    "charts": CHARTS,
    "kinds of own measures": OWN_MEASURES,
}


def description(entry: Any) -> str:
    """The one line that an entry says of itself: its title, else the first line of its function's
    docstring or its module's.
    """
    title = getattr(entry, "title", "")
    if isinstance(title, str) and title:
        return title
    for function in _functions(entry):
        text = function.__doc__ or sys.modules[function.__module__].__doc__
        if text:
            return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())
    return ""


def _functions(entry: Any) -> Iterator[Callable[..., Any]]:
    """The functions of the package that an entry consists of, without what `functools.partial` puts
    around them; of a search backend the one that does its work.
    """
    parts = (
        [entry.device or entry.open]
        if isinstance(entry, Backend)
        else entry._asdict().values()
        if hasattr(entry, "_asdict")
        else vars(entry).values()
        if hasattr(entry, "name")
        else [entry]
    )
    for each in parts:
        inner = getattr(each, "func", each)
        if callable(inner) and getattr(inner, "__module__", "").startswith("rankwell."):
            yield inner


def methods_page() -> str:
    """docs/reference/methods.md: the names that options take."""
    parts = [f"# Names that options take\n\n{NOTE}\n\nWhat the names after an option mean.\n"]
    for section in data("methods")["section"]:
        registry = REGISTRIES[section["registry"]]
        texts = {name: description(registry[name]) for name in registry} | section.get("texts", {})
        rows = [(f"`{name}`", texts[name]) for name in registry]
        parts.append(f"## {section['title']}\n\n{section['lead']}\n")
        parts.append(table(("name", "meaning"), rows))
    return "\n".join(parts)
