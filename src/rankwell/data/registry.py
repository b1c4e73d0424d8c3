"""The measures as they can be named: entries that files add by a decorator, and the text of a
measure; figures of whole collections, which have no value per query.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar

from rankwell.data.catalogue import Catalogue as Catalogue
from rankwell.data.catalogue import everyday_meaning
from rankwell.data.catalogue import suggest as suggest
from rankwell.data.options import (
    check_value,
    cutoffs,
    given_parameters,
    own_arithmetic,
    read_value,
    split_names,
    write_value,
)
from rankwell.errors import BadUsage, UnknownName, flag, shown

if TYPE_CHECKING:
    from rankwell.data.tables import Summary, Unit

Function = TypeVar("Function", bound=Callable[..., Any])


class Scale(NamedTuple):
    """The scale of a measure's values.

    bounds: the lowest and the highest value; infinite where there is none.
    better: the direction of better values; `neither` where there is none.
    unit: `share` for values from 0 to 1, `rank`, `count` and others.
    empty: the value of a query with an empty ranking; NaN where such a query is not counted.
    """

    bounds: tuple[float, float] = (0.0, 1.0)
    better: Better = "higher"
    unit: Unit = "share"
    empty: float = 0.0


RANK = Scale((1.0, math.inf), "lower", "rank", math.nan)
COUNT = Scale((0.0, math.inf), "neither", "count")


class MeasureEntry(NamedTuple):
    """A measure as its file declares it: the function and the facts that documentation and tests
    read.

    name: the name without parameters, `nDCG`.
    function: `(view, *, parameters) -> (queries,) float64`; its docstring documents the measure.
    view: the type of view it reads.
    parameters: name -> parameter of the function, without the view.
    cutoff_parameter: the parameter that `@` sets, or None.
    bounds, better, empty: as in `Scale`.
    source: who defined it, with the year.
    summary: how the values of queries become one figure.
    unit: as in `Scale`.
    aliases: other tools' words for it with the parameters that they imply.
    expected: the closed form under random order of tied items, where there is one.
    exempt: common law that does not hold -> the reason.
    chance: the mean over all orders that a candidate's list may have, where measures of two lists
        have a closed form for it.
    """

    name: str
    function: Callable[..., Any]
    view: type
    parameters: Mapping[str, inspect.Parameter]
    cutoff_parameter: str | None
    bounds: tuple[float, float]
    better: Better
    empty: float
    source: str
    summary: Summary
    unit: Unit
    aliases: Mapping[str, str]
    expected: Callable[..., Any] | None
    exempt: Mapping[str, str]

    @property
    def command(self) -> str:
        """The words of the command that computes it; of several, `evaluate`."""
        return getattr(self.view, "command", "evaluate")

    @property
    def needs(self) -> str:
        """Its inputs, and the command, with its option, that reads them, in the words of users."""
        view, option = self.view, getattr(self.view, "option", "")
        how = f"`rankwell {self.command}`" + (f" with {flag(option)}" if option else "")
        return f"{getattr(view, 'needs', 'a view of its own')}; {how} computes it"

    chance: Callable[..., Any] | None = None

    @property
    def form(self) -> str:
        """The full name, with every parameter and its default:
        `AP(rel=1,judged_only=False,denom='relevant')@k`.
        """
        inner = ",".join(
            parameter.name
            if parameter.default is parameter.empty
            else f"{parameter.name}={parameter.default!r}"
            for parameter in self.parameters.values()
            if parameter.name != self.cutoff_parameter
        )
        name = f"{self.name}({inner})" if inner else self.name
        if self.cutoff_parameter is None:
            return name
        cutoff = self.parameters[self.cutoff_parameter]
        return (
            f"{name}@{cutoff.name}" if cutoff.default is cutoff.empty else f"{name}[@{cutoff.name}]"
        )

    @property
    def paragraphs(self) -> list[str]:
        """Its documentation, paragraph by paragraph: what it says, its full name with what it is
        for, its formula, its parameters, and a worked example, which imports all that it needs.
        """
        import_line = f">>> from {self.function.__module__} import {self.function.__name__}\n"
        texts = (inspect.getdoc(self.function) or "").split("\n\n")
        return [import_line + text if text.startswith(">>>") else text for text in texts]

    @property
    def definition(self) -> dict[str, str]:
        """Its description in the rules of a result: its first sentence, its direction, its summary
        and its source.
        """
        sentence = self.paragraphs[0].replace("\n", " ")
        return {
            "definition": sentence,
            "better": self.better,
            "summary": self.summary,
            "source": self.source,
        }

    @property
    def module(self) -> str:
        """The name of the file that declares it, without folder and suffix."""
        return self.function.__module__.rpartition(".")[2]


MEASURES: Catalogue[MeasureEntry] = Catalogue("measures", "measure", "rankwell.measures")
OWN_MEASURES: Catalogue[Callable[[Callable[..., Any]], str]] = Catalogue(
    "measures", "kind of own measures"
)
"""Registers a user's function as a measure and returns its name."""


def measure(
    name: str,
    *,
    source: str,
    scale: Scale = Scale(),  # noqa: B008 - immutable
    at: str | None = "k",
    summary: Summary = "mean",
    aliases: str = "",
    expected: Callable[..., Any] | Literal["same", "linear"] | None = None,
    exempt: Mapping[str, str] | None = None,
    chance: Callable[..., Any] | None = None,
) -> Callable[[Function], Function]:
    """Registers a function `(view, *, parameters) -> (queries,) float64` under a name and returns
    it unchanged.

    scale: bounds, direction and unit of its values, and the value of a query with an empty ranking.
    aliases: other tools' words for it, between blanks, with the parameters that a word implies:
    `ndcg_burges(dcg='exp-log2')`. expected: the mean under random order of tied items, as a
    function of the same form; `same` where no order of them matters, `linear` where the function
    computes it on a view `with_random_order`.
    chance: the mean over lists in random order, as a function of the same form, for measures that
    compare two lists.
    exempt: common law -> the reason why it does not hold for this measure (see
    tests/measures/test_measures.py).
    """

    def _entry(function: Callable[..., Any]) -> MeasureEntry:
        view, *signature = inspect.signature(function, eval_str=True).parameters.values()
        parameters = {parameter.name: parameter for parameter in signature}
        forms = {
            "same": function,
            "linear": lambda view, **arguments: function(view.with_random_order, **arguments),
        }
        words = [word.partition("(") for word in split_names(aliases)]
        return MeasureEntry(
            name=name,
            function=function,
            view=view.annotation,
            parameters=parameters,
            cutoff_parameter=at if at in parameters else None,
            source=source,
            summary=summary,
            **scale._asdict(),
            aliases={word: implied.removesuffix(")") for word, _, implied in words},
            expected=forms[expected] if isinstance(expected, str) else expected,
            exempt=dict(exempt or {}),
            chance=chance,
        )

    return MEASURES.register(name, _entry)


class Measure(NamedTuple):
    """A measure with its parameters, as `parse_measure` reads it.

    Equal measures have equal text: `parse_measure(str(m)) == m`.

    name: name of its entry, without parameters.
    arguments: the parameters that differ from their defaults, in the order of the signature.

    >>> import rankwell as rw
    >>> measure = rw.parse_measure("AP(rel=2)@100")
    >>> measure.name, measure.cutoff
    ('AP', 100)
    """

    name: str
    arguments: tuple[tuple[str, Any], ...] = ()

    @property
    def entry(self) -> MeasureEntry:
        """The declaration in the measure's file."""
        return MEASURES[self.name]

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value, defaults included."""
        parameters = self.entry.parameters.items()
        return {name: parameter.default for name, parameter in parameters} | dict(self.arguments)

    @property
    def cutoff(self) -> int | None:
        """The number of ranks that it inspects, or None if it has no cut-off."""
        return self.parameters.get("k")

    @own_arithmetic
    def __call__(self, view: Any) -> Any:
        """The value of each query of the view, (queries,) float64; NaN where a query is not
        counted.

        Raises BadUsage for a view of another kind than the measure reads.
        """
        if not isinstance(view, self.entry.view):
            expected_view, view_name = self.entry.view.__name__, type(view).__name__
            raise BadUsage(
                f"{self} reads {expected_view}, this is {view_name}"
                f"{getattr(view, 'conversion_hint', '')}."
            )
        return self.entry.function(view, **dict(self.arguments))

    def __str__(self) -> str:
        at, values = self.entry.cutoff_parameter, dict(self.arguments)
        end = f"@{write_value(values.pop(at))}" if at in values else ""
        inner = ",".join(f"{name}={write_value(value)}" for name, value in values.items())
        return self.name + (f"({inner})" if inner else "") + end

    def with_parameters(self, **changes: Any) -> Measure:
        """The same measure with some parameters set. Raises UnknownName for a parameter that it
        does not have.
        """
        return _measure(self.entry, self.parameters | changes, str(self))

    def accepts(self, parameter: str) -> bool:
        """Whether the measure has a parameter of this name."""
        return parameter in self.entry.parameters


# Compiled when a text is first read: `rankwell trec-eval` names its measures without one.
_TEXT = r"(?s)(?P<name>[^()@\s]+)(\((?P<inner>.*)\))?(@(?P<at>[^()@\s]+))?"
_CUT_IN_NAME = r"(?P<name>.+?)(?:_at_|[._])(?P<at>[0-9]+(?:\.[0-9]+)?)"
_LEVEL = r"(?s)(?P<text>.+)-l(?P<level>[0-9]+)"
_PREFIX = r"(?:cosine|dot|euclidean|manhattan|max)_(?P<text>.+)"


def parse_measure(text: str, words: Mapping[str, str] | None = None) -> Measure:
    """Reads the name of a measure: `nDCG@10`, `AP(rel=2)@100`, or another tool's word.

    Raises UnknownName for a name or a parameter that does not exist, BadUsage for a value that a
    parameter cannot have.

    Parameters
    ----------
    text
        The name, such as `nDCG@10`, `ndcg_cut.10`, `ndcg@10-l2` or `map`.
    words
        A convention's names, each with the measure that it means there; they take precedence over
        every other reading.

    >>> import rankwell as rw
    >>> str(rw.parse_measure("ndcg_cut.10")), rw.parse_measure("P@5").cutoff
    ('nDCG@10', 5)
    """
    level = re.fullmatch(_LEVEL, text.strip())
    if level is not None:
        return _parse(level["text"], words).with_parameters(rel=read_value(level["level"]))
    return _parse(text, words)


def _parse(text: str, words: Mapping[str, str] | None) -> Measure:
    match = re.fullmatch(_TEXT, text.strip())
    if match is None:
        _refuse_everyday_words(text)
    # An address, which a user put in the wrong place, may have a password, and is not taken apart.
    if match is None or "://" in text:
        raise BadUsage(
            f"{text!r} is not a measure; the form is Name, Name@cutoff or "
            "Name(parameter=value,…)@cutoff."
        )
    word, inner, cutoff = match["name"], match["inner"], match["at"]
    meanings = {known.lower(): meaning for known, meaning in (words or {}).items()}
    for name, at in _spellings(word, cutoff):
        if name.lower() in meanings:
            meant = re.fullmatch(_TEXT, meanings[name.lower()])
            if meant is None:
                raise ValueError(
                    f"a convention's word means {meanings[name.lower()]!r}, which is not a measure"
                )
            return _assemble(meant["name"], meant["inner"] or "", inner, at or meant["at"], text)
    if word in MEASURES.builtin_names:
        return _assemble(word, "", inner, cutoff, text)
    entries = [MEASURES[name] for name in sorted(MEASURES.builtin_names)]
    aliases = {
        alias: (entry.name, implied)
        for entry in entries
        for alias, implied in entry.aliases.items()
    }
    # The lower-case form of a measure's own name, unless another measure claims it.
    aliases = {entry.name.lower(): (entry.name, "") for entry in entries} | aliases
    for name, at in _spellings(word, cutoff):
        for key in (name, name.lower()):
            if key in aliases:
                return _assemble(*aliases[key], inner, at, text)
    if word in MEASURES.plugin_names:
        return _assemble(word, "", inner, cutoff, text)
    _refuse_everyday_words(text)
    if figures := find_figures(word):
        raise UnknownName(
            f"{figures[0].bare} (in {text!r}) is a figure of {figures[0].covers}, no measure of "
            f"rankings; {figures[0].commands} print{'s' * (len(figures[0].printed_by) == 1)} it."
        )
    names = [
        *MEASURES,
        *FIGURES,
        *(alias for alias, (name, _) in aliases.items() if alias != name.lower()),
    ]
    advice = suggest(word, names, "`rankwell explain` lists them all.")
    if cutoff:
        advice = re.sub(
            r"'(\w+)'(?= or|\?)", lambda near: f"'{_with_cutoff(near[1], cutoff)}'", advice
        )
    raise UnknownName(f"unknown measure {word!r} (in {text!r}); {advice}")


def _with_cutoff(name: str, cutoff: str) -> str:
    """The name of a measure with a cut-off, in place of its own; as it is where it takes none."""
    text = f"{name.partition('@')[0]}@{cutoff}"
    try:
        parse_measure(text)
    except BadUsage:
        return name
    return text


def everyday_measure(text: str, *, is_near: bool = False) -> str:
    """The measure that people mean by a word or by words, as `everyday.toml` has it, with the
    cut-off of the words where it takes one; "" where it has none.

    is_near: whether a near spelling will do.
    """
    measure, cutoff = everyday_meaning("measures", text, is_near=is_near), text.partition("@")[2]
    return _with_cutoff(measure, cutoff.strip()) if measure and cutoff else measure


def _refuse_everyday_words(text: str) -> None:
    """Raises UnknownName for what people call a measure, and rankwell does not."""
    if measure := everyday_measure(text):
        raise UnknownName(f"there is no measure {text!r}; did you mean '{measure}'?")
    if alternative := everyday_meaning("instead", text):
        raise UnknownName(f"there is no measure {text!r}: {alternative}")


def is_word(text: str, words: Mapping[str, str]) -> bool:
    """Whether a text names a measure by one of a convention's words."""
    match = re.fullmatch(_TEXT, text.strip())
    lowered_words = {word.lower() for word in words}
    return match is not None and any(
        name.lower() in lowered_words for name, _ in _spellings(match["name"], match["at"])
    )


def _spellings(name: str, cutoff: str | None) -> Iterator[tuple[str, str | None]]:
    """The ways to read a foreign name: as it stands, without a similarity's prefix, with the
    cut-off written into the name.
    """
    bare = re.fullmatch(_PREFIX, name)
    for spelling in (name, bare["text"]) if bare else (name,):
        yield spelling, cutoff
        cut = re.fullmatch(_CUT_IN_NAME, spelling)
        if cut is not None and cutoff is None:
            yield cut["name"], cut["at"]


def _assemble(name: str, implied: str, inner: str | None, cutoff: str | None, text: str) -> Measure:
    entry = MEASURES[name]
    values = given_parameters(implied, text) | given_parameters(inner or "", text)
    if cutoff is not None:
        if entry.cutoff_parameter is None:
            raise BadUsage(f"{entry.name} takes no cut-off (in {text!r}).")
        values[entry.cutoff_parameter] = read_value(cutoff)
    return _measure(entry, values, text)


def _measure(entry: MeasureEntry, values: Mapping[str, Any], text: str) -> Measure:
    for name in values:
        if name not in entry.parameters:
            raise UnknownName(
                f"{entry.name} has no parameter {name!r} (in {text!r}); "
                f"{suggest(name, entry.parameters)}"
            )
    for parameter in entry.parameters.values():
        if parameter.default is parameter.empty and parameter.name not in values:
            raise IncompleteMeasure.of(entry, values, text, parameter.name)
    arguments: list[tuple[str, Any]] = []
    for name, parameter in entry.parameters.items():
        if name in values:
            value = check_value(entry.name, parameter, values[name], text)
            if value != parameter.default:
                arguments.append((name, value))
    return Measure(entry.name, tuple(arguments))


class IncompleteMeasure(BadUsage):
    """A parameter without a default has no value.

    measure: the measure with the given parameters.
    alternatives: measures that the text may mean.
    """

    def __init__(
        self, message: str, measure: Measure | None = None, alternatives: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.measure, self.alternatives = measure, alternatives

    @classmethod
    def of(cls, entry: MeasureEntry, values: Mapping[str, Any], text: str, parameter: str) -> Self:
        """The error for a parameter of a measure."""
        how = (
            f"{entry.name}@5"
            if parameter == entry.cutoff_parameter
            else f"{entry.name}({parameter}=…)"
        )
        alternatives = _same_letters(entry, text)
        hint = f" Or did you mean {' or '.join(alternatives)}?" if alternatives else ""
        arguments = tuple(
            (name, values[name])
            for name in entry.parameters
            if name in values and name != entry.cutoff_parameter
        )
        return cls(
            f"{entry.name} needs {parameter} (in {text!r}): write it as {how}.{hint}",
            Measure(entry.name, arguments),
            alternatives,
        )


def _same_letters(entry: MeasureEntry, text: str) -> list[str]:
    """Other measures whose names or words differ from this one's by capitals only, for a text that
    is not its name.
    """
    name = text.strip().partition("(")[0].partition("@")[0]
    entries = [MEASURES[other_name] for other_name in sorted(MEASURES.builtin_names)]
    return [
        other.name
        for other in entries
        if entry.name not in (name, other.name) and name.lower() in map(str.lower, other.aliases)
    ]


def measure_names(measures: Any) -> list[str] | None:
    """The measures that one or several texts name, code among them (`./FILE.py:FUNCTION`), or that
    functions are; None for none.

    Raises BadUsage for anything else.
    """
    if measures is None:
        measures = ()
    if (
        isinstance(measures, (str, Measure))
        or callable(measures)
        or _is_foreign(measures)
        or not isinstance(measures, Iterable)
    ):
        measures = [measures]
    names: list[str] = []
    for requested_measure in measures:
        if isinstance(requested_measure, str) and _is_file_of_code(requested_measure):
            names.append(requested_measure)
        elif isinstance(requested_measure, (str, Measure)) or _is_foreign(requested_measure):
            # A convention may have a single word for a measure; several words name none.
            if " " in str(requested_measure):
                _refuse_everyday_words(str(requested_measure))
            names += split_names(str(requested_measure))
        elif callable(requested_measure):
            names.append(OWN_MEASURES["function"](requested_measure))
        else:
            raise BadUsage(
                f"{shown(requested_measure)} is not a measure; expected a name such as nDCG@10, "
                "or a function."
            )
    return [_name_of_code(name) if ":" in name else name for name in names] or None


def _is_foreign(thing: Any) -> bool:
    """Whether this is a measure of ir_measures, whose text is its name."""
    return hasattr(thing, "NAME") and hasattr(thing, "params")


def _is_file_of_code(text: str) -> bool:
    """Whether a text, with its blanks, is one measure: an object of a file."""
    if ".py:" not in text:
        return False
    from rankwell.data.code import MEASURE, code_files

    at = MEASURE.fullmatch(text)
    return at is not None and bool(code_files(at["place"]))


def _name_of_code(text: str) -> str:
    """The name under which a function is registered that a text names, with what stands behind it;
    other texts as they are.
    """
    from rankwell.data.code import MEASURE, load_object

    at = MEASURE.fullmatch(text)
    return text if at is None else OWN_MEASURES["function"](load_object(at["place"])) + at["rest"]


def at_each_cutoff(text: str, ks: Sequence[int], words: Mapping[str, str]) -> list[str]:
    """A measure at every cut-off where it needs one and names none."""
    try:
        parse_measure(text, words)
    except IncompleteMeasure:
        if "@" in text:
            raise
        return [f"{text}@{k}" for k in ks]
    return [text]


def at_cutoffs(names: Iterable[str], ks: Sequence[int]) -> list[str]:
    """Measures at every one of some cut-offs, in place of one in their names."""
    return [f"{name.partition('@')[0]}@{k}" for name in names for k in ks]


def cutoffs_of_defaults(k: Any, measures: Any, example: str) -> tuple[int, ...]:
    """The cut-offs that a user names for the measures by default; none where there is no `k`.

    Raises BadUsage for a wrong `k`, and for one beside named measures. example: such a measure.
    """
    ks = () if k is None else cutoffs(k)
    if ks and measure_names(measures):
        raise BadUsage(
            f"{flag('-k', k, name='k')} has no effect with named measures; write the cut-off into "
            f"their names, as in {example}@{ks[0]}."
        )
    return ks


Better = Literal["higher", "lower", "neither"]
_NO_WORDS: Mapping[str, str] = MappingProxyType({})


class CollectionFigure(NamedTuple):
    """A figure that is no measure of rankings, mostly of a whole collection, as its file declares
    it.

    name: the exact name, with parameters where figures differ in them.
    text: the definition, with names in braces for what a call decides.
    printed_by: the command lines that print it, without `rankwell`.
    source: who defined it.
    better: the direction of better values.
    words: name in the braces of `text` -> its meaning in general.
    aliases: labels that stand for it in tables.
    details: its full name and formula, and a worked example.
    per_query: whether single queries have a value, too.
    """

    name: str
    text: str
    printed_by: tuple[str, ...]
    details: str
    source: str = "rankwell"
    better: Better = "higher"
    words: Mapping[str, str] = _NO_WORDS
    aliases: tuple[str, ...] = ()
    per_query: bool = False

    @property
    def covers(self) -> str:
        """What a value of it is for."""
        return "each query" if self.per_query else "a whole collection"

    @property
    def title(self) -> str:
        """Its definition in general, as a sentence."""
        text = self.definition()
        return text[:1].upper() + text[1:].removesuffix(".") + "."

    @property
    def rule(self) -> dict[str, str]:
        """Its description in the rules of a result: its definition, its direction and its
        source.
        """
        return {"definition": self.text, "better": self.better, "source": self.source}

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
    name: str, text: str, *, details: str, aliases: str = "", **fields: Any
) -> CollectionFigure:
    """Registers a figure and returns it. The arguments are the fields of `CollectionFigure`;
    aliases are separated by blanks.
    """
    figure = CollectionFigure(
        name, text, aliases=tuple(aliases.split()), details=details.strip(), **fields
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
