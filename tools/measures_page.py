"""The pages of docs/reference/measures: a table of every measure, and a page for each family."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Any, NamedTuple

import rankwell
from page_parts import NOTE, anchor, data, lead, table
from rankwell.compat.trec_command import MEASURES as TREC_MEASURES
from rankwell.conventions import CONVENTIONS
from rankwell.data.registry import FIGURES, MEASURES, CollectionFigure, MeasureEntry
from rankwell.files.explanations import describe_entry, family_of

FAMILIES = data("measures")
SUMMARIES = FAMILIES.pop("summaries")
EVERYDAY: Mapping[str, str] = tomllib.loads(
    (Path(rankwell.__file__).parent / "data" / "everyday.toml").read_text(encoding="utf-8")
)["measures"]
TOOLS = {"beir": "BEIR", "mteb": "MTEB", "st": "sentence-transformers", "vse": "VSE++"}
"""Conventions whose tools have another name."""
COMMON = {
    "k": "Only the first `k` places count.",
    "rel": "Lowest grade that counts as relevant.",
    "T": "The user's target gain.",
    "alpha": "Share by which an item that repeats an intent counts less.",
    "p": "Probability that the user continues to the next item.",
    "x": "Multiple of the number of relevant items at which the list is cut.",
}
"""Parameters that most measures share and do not explain."""
_PROPER = ("Gini", "Jaccard", "Kendall", "Matthews", "Pearson", "Shannon", "Spearman", "Bejeweled")
_RAISES = re.compile(r"Raises \w+ .+?\.(?: |$)")
_Entry = MeasureEntry | CollectionFigure


class Text(NamedTuple):
    """The documentation of a measure by its parts: full name, what it is for, what it says, its
    formula, other prose, its parameters, and an example.
    """

    full_name: str
    use: str
    says: str
    formula: str
    prose: str
    parameters: Mapping[str, str]
    example: str


def measure_pages() -> dict[str, str]:
    """The pages by their place in docs/. Ends for a module that no family has."""
    families: dict[str, list[_Entry]] = {name: [] for name in FAMILIES}
    homes = {module: name for name, family in FAMILIES.items() for module in family["modules"]}
    for entry in [*map(MEASURES.__getitem__, MEASURES), *map(FIGURES.__getitem__, FIGURES)]:
        module = entry.module if isinstance(entry, MeasureEntry) else family_of(entry)
        if module not in homes:
            raise SystemExit(f"tools/pages/measures.toml: no family has the module {module!r}")
        families[homes[module]].append(entry)
    for name, members in families.items():
        order: list[str] = FAMILIES[name]["first"] + sorted(entry.name for entry in members)
        members.sort(key=lambda entry: order.index(entry.name))
    pages = {f"{name}.md": _family_page(name, members) for name, members in families.items()}
    pages["index.md"] = lead("Measures", "measures") + "\n" + _index(families)
    return {f"reference/measures/{name}": text for name, text in pages.items()}


def text_of(entry: _Entry) -> Text:
    """The documentation of a measure, or of a figure of a whole collection. Ends for one without a
    formula or an example, or with a parameter that is not explained.
    """
    if isinstance(entry, CollectionFigure):
        paragraphs, names = [entry.title, *entry.details.split("\n\n")], ()
    else:
        paragraphs, names = entry.paragraphs, tuple(entry.parameters)
    if len(paragraphs) < 4 or not paragraphs[2].startswith("    "):
        raise SystemExit(f"{entry.name}: its documentation needs a full name and a formula")
    if not paragraphs[-1].startswith(">>> "):
        raise SystemExit(f"{entry.name}: its documentation needs a worked example at its end")
    says, heading, formula, *others, example = paragraphs
    full_name, _, use = _line(heading).removesuffix(":").partition(", for ")
    rest = _line(" ".join(others))
    prose, explained = _parameters(_RAISES.sub("", rest), names)
    if unknown := [name for name in names if name not in explained | COMMON]:
        raise SystemExit(f"{entry.name}: its documentation does not explain {unknown[0]!r}")
    return Text(
        full_name,
        f"{'Tells you' if use.startswith(('how', 'wh')) else 'For'} {use}.",
        _line(says),
        re.sub(r"^ {4}", "", formula, flags=re.MULTILINE),
        " ".join([prose, *_RAISES.findall(rest)]).strip(),
        {name: (COMMON | explained)[name] for name in names},
        example,
    )


def _parameters(text: str, names: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The prose of a documentation, and what it says of each parameter; what it takes from another
    measure is that one's.
    """
    explained = dict[str, str]()
    if other := re.search(r"Parameters as for `(\w+)`\. ?", text):
        explained |= text_of(MEASURES[other[1]]).parameters
        text = text.replace(other[0], "")
    name = "|".join(map(re.escape, names)) or "(?!)"
    prose, *pieces = re.split(rf"(?:^|(?<=[.;] ))((?:(?:{name})(?:, )?)+): ", text)
    for heads, piece in zip(pieces[::2], pieces[1::2], strict=True):
        source = re.fullmatch(r"(?:see|as for) `?(\w+)`?[.;]? ?", piece)
        sentence = _capital(piece.strip().removesuffix(";").removesuffix(".") + ".")
        for head in heads.split(", "):
            of_other = source and text_of(MEASURES[source[1]]).parameters[head]
            explained[head] = of_other or sentence
    return prose.strip(), explained


def _line(text: str) -> str:
    return " ".join(text.split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _places(members: Sequence[_Entry]) -> list[tuple[str, _Entry]]:
    """The measures by their anchors; a figure that shares a name says so."""
    found: dict[str, _Entry] = {}
    for entry in members:
        place = anchor(entry.name)
        found[f"{place}-of-pairs" if place in found else place] = entry
    return list(found.items())


def _index(families: Mapping[str, Sequence[_Entry]]) -> str:
    parts: list[str] = []
    for name, members in families.items():
        rows = [
            (
                f"[`{entry.name}`]({name}.md#{place})",
                _everyday_name(entry),
                re.sub(r"^(For|Tells you) ", "", text_of(entry).use)[:-1],
            )
            for place, entry in _places(members)
        ]
        parts.append(f"### [{FAMILIES[name]['title']}]({name}.md)\n")
        names = table(("name", "full name", "for"), rows)
        parts.append(f'<div class="names" markdown>\n\n{names}\n</div>\n')
    return "\n".join(parts)


def _full_name(entry: _Entry) -> str:
    """The full name without the short one before it."""
    name = text_of(entry).full_name.removeprefix(f"{entry.name}, ")
    return name[:1].upper() + name[1:]


def _everyday_name(entry: _Entry) -> str:
    """The full name, and what else people call it."""
    full_name = _full_name(entry)
    known = full_name.lower().replace("-", " ").replace("normalized", "normalised")
    words = [word.replace("-", " ") for word in EVERYDAY if EVERYDAY[word] == entry.name]
    others = [word for word in words if word.replace("normalized", "normalised") not in known]
    return "; ".join([full_name, *[", ".join(others)] * (entry.name in MEASURES and others != [])])


def _family_page(name: str, members: Sequence[_Entry]) -> str:
    family = FAMILIES[name]
    parts = [f"# {family['title']}\n\n{NOTE}\n\n{family['lead']}\n"]
    parts += [_section(entry, place, family) for place, entry in _places(members)]
    return "\n".join(parts)


def _section(entry: _Entry, place: str, family: Mapping[str, Any]) -> str:
    text = text_of(entry)
    name = _full_name(entry)
    if name[1:2].islower() and not name.startswith(_PROPER):
        name = name[0].lower() + name[1:]
    title = entry.name if name.lower() == entry.name.lower() else f"{entry.name}: {name}"
    lines = [f"## {title} {{ #{place} }}", text.use, text.says, *_formula(text.formula)]
    lines += [text.prose] * bool(text.prose)
    listed: Mapping[str, str] = family.get("names", {}).get(place, {})
    if isinstance(entry, MeasureEntry):
        if entry.parameters:
            rows = [
                (f"`{name}`", _default(parameter), text.parameters[name])
                for name, parameter in entry.parameters.items()
            ]
            lines.append(table(("parameter", "default", "meaning"), rows).strip())
        facts, names = _facts(entry), _other_names(entry, listed)
    else:
        facts = [f"**Values**: one for {entry.covers}, {_better(entry.better)}"]
        facts.append(f"**Printed by** {entry.commands}.")
        names = [(f"`{word}`", tool, "the same") for tool, word in listed.items()]
        for alias in dict.fromkeys(entry.aliases):
            tools = [tool for tool, words in family["tools"].items() if {alias, "*"} & {*words}]
            names.append((f"`{alias}`", ", ".join(tools), "the same"))
    facts = [*facts, f"**Source**: {entry.source}."]
    lines += ["\n".join(f"* {fact}" for fact in facts), "**Example**"]
    lines += [f"```python\n{text.example}\n```", *_names_text(entry.name, names)]
    return "\n\n".join(lines) + "\n"


def _names_text(name: str, names: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """The names of other tools as a table, and those of no tool as a line."""
    if rows := [row for row in names if row[1]]:
        columns = 3 if any(means != "the same" for _, _, means in rows) else 2
        yield f"**{name} in other tools**"
        yield table(("name", "in", "means")[:columns], [row[:columns] for row in rows]).strip()
    if others := [(word, means) for word, tools, means in names if not tools]:
        texts = [word + f" ({means})" * (means != "the same") for word, means in others]
        yield f"Also understood: {', '.join(texts)}."


def _formula(text: str) -> Iterator[str]:
    """A formula as a block, and what its letters stand for as a list."""
    lines = text.split("\n")
    letters = [line for line in lines if re.match(r"[^=]+?: ", line)]
    formula = "\n".join(line for line in lines if line not in letters)
    yield f"```text\n{formula}\n```"
    if letters:
        named = (letter.partition(": ") for letter in letters)
        yield "\n".join(f"* `{names.replace(', ', '`, `')}`: {text}" for names, _, text in named)


def _default(parameter: Parameter) -> str:
    if parameter.default is parameter.empty:
        return "required"
    return "none" if parameter.default is None else f"`{parameter.default!r}`"


def _better(better: str) -> str:
    return "neither direction is better." if better == "neither" else f"{better} is better."


def _facts(entry: MeasureEntry) -> Iterator[str]:
    description = describe_entry(entry)
    low, high = (f"{each:g}" if isinstance(each, float) else each for each in description["bounds"])
    empty = description["empty"]
    needed = [name for name, each in entry.parameters.items() if each.default is each.empty]
    inner = ",".join(f"{name}=…" for name in needed if name != entry.cutoff_parameter)
    cutoff = "".join(re.findall(r"\[?@\w+\]?$", entry.form))
    typed = entry.name + (f"({inner})" if inner else "") + cutoff
    yield f"**Type** `{typed}`, in `rankwell {entry.command}`."
    yield f"**Values**: {low} to {high}, {_better(entry.better)}"
    if entry.summary != "mean":
        yield f"**Over queries**: {SUMMARIES[entry.summary]}."
    empty = "the query is not counted" if isinstance(empty, str) else f"{empty:g}"
    yield f"**Empty ranking**: {empty}."
    if entry.expected is not None:
        yield "**Ties**: `--ties expected` gives the exact mean over all orders of tied items."


def _other_names(entry: MeasureEntry, listed: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The words of other tools for a measure: the word, the tools, and what it means there."""
    tools: dict[tuple[str, str], list[str]] = {}

    def _add(word: str, parameters: str, *of: str) -> None:
        reading = f"`{entry.name}({parameters})`" if parameters else "the same"
        tools.setdefault((f"`{word}`", reading), []).extend(of)

    for tool, word in listed.items():
        _add(word, entry.aliases.get(word, ""), tool)
    for trec in TREC_MEASURES:
        if trec.home.rpartition(".")[2] == entry.name:
            arguments = ", ".join(f"{name}={value!r}" for name, value in trec.arguments)
            _add(trec.name, arguments, "trec_eval")
    for key in CONVENTIONS:
        label = TOOLS.get(key, key.replace("/", " "))
        for word, meaning in CONVENTIONS[key].words.items():
            name, _, inner = meaning.partition("@")[0].partition("(")
            if name == entry.name != word and not re.search(r"\.\d", word):
                tool = f"[{label}](../conventions.md#{anchor(key)})"
                _add(word, inner.removesuffix(")"), tool)
    for alias, parameters in sorted(entry.aliases.items()):
        if not any(word == f"`{alias}`" for word, _ in tools):
            _add(alias, parameters, *["torchmetrics"] * alias.lower().startswith("retrieval"))
    return [(word, ", ".join(dict.fromkeys(of)), means) for (word, means), of in tools.items()]
