"""Figures by name: what commands print beside measures, one number of a whole collection, without a
value per query.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from rankwell.core.catalogue import Catalogue

Better = Literal["higher", "lower", "neither"]
_NO_WORDS: Mapping[str, str] = MappingProxyType({})


class CollectionFigure(NamedTuple):
    """A figure as its file declares it.

    text: its definition, with names in braces for what a call decides; words: what these stand for
    in general.
    printed_by: the command lines that print it, without `rankwell`, as in `instances evaluate
    --clusters`. aliases: labels that stand for it in tables. example: a worked example, empty for
    what only a clock gives.
    """

    name: str
    text: str
    better: Better
    source: str
    printed_by: tuple[str, ...]
    words: Mapping[str, str] = _NO_WORDS
    aliases: tuple[str, ...] = ()
    example: str = ""

    @property
    def title(self) -> str:
        """Its definition in general, as a sentence."""
        text = self.definition()
        return text[:1].upper() + text[1:].removesuffix(".") + "."

    @property
    def commands(self) -> str:
        """The command lines that print it, in words."""
        return " and ".join(f"`rankwell {command}`" for command in self.printed_by)

    @property
    def bare(self) -> str:
        """Its name without parameters: Hubness of Hubness(kind='never')."""
        return self.name.partition("(")[0]

    def definition(self, **words: str) -> str:
        """Its definition. words: what a call decides, by name."""
        return self.text.format(**{**self.words, **words})


FIGURES: Catalogue[CollectionFigure] = Catalogue("measures", "figure")


def add_figure(
    name: str,
    text: str,
    *,
    printed_by: tuple[str, ...],
    source: str = "rankwell",
    better: Better = "higher",
    words: Mapping[str, str] = _NO_WORDS,
    aliases: str = "",
    example: str = "",
) -> CollectionFigure:
    """Registers a figure and returns it. The arguments are the fields of `CollectionFigure`;
    aliases are separated by blanks.
    """
    figure = CollectionFigure(
        name, text, better, source, printed_by, words, tuple(aliases.split()), example.strip()
    )
    FIGURES.add(name, figure)
    return figure


def find_figures(text: str) -> list[CollectionFigure]:
    """The figures that a text names, with their variants: an exact name, an alias, or the beginning
    of a label, `p95 latency`.

    A name in other capitals is found where no name is written so. Empty where the text names none.
    """
    figures = [FIGURES[name] for name in sorted(FIGURES.builtin_names)]
    wanted = text.strip()
    bare = wanted.partition("(")[0].partition("@")[0]
    for name in (wanted, bare, *(bare.rsplit(" ", n)[0] for n in range(1, bare.count(" ") + 1))):
        for folded in (str, str.lower):
            matches = [
                figure
                for figure in figures
                if folded(name) in map(folded, (figure.name, figure.bare, *figure.aliases))
            ]
            if matches:
                return matches
    return []
