"""The Python reference: a page for each public function and class, from signature and docstring."""

import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NoReturn, get_args, get_type_hints

from public_stub import Stub
from rankwell.data.catalogue import command_summaries

rankwell: Any = import_module("rankwell")
NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"
TEN = "evaluate Results ComparisonResults check explain measure fuse evaluate_rag evaluate_qa convert".split()  # noqa: SIM905, E501
"""The names that most programs need."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Evaluate and compare": ("guide/evaluate", "tasks.runs", "results"),
    "Experiments": ("guide/many", "comparison.bench"),
    "Fusion": ("guide/fusion", "comparison.fusion"),
    "Embeddings": ("guide/embeddings", "tasks.embeddings", "files.encoding", "files.neighbours"),
    "RAG": ("guide/rag", "tasks.rag"),
    "Question answering": ("guide/question-answering", "tasks.qa"),
    "Text and video": ("guide/text-and-video", "tasks.crossmodal"),
    "Image search": ("guide/images", "tasks.images"),
    "Clips and keywords": ("guide/keywords", "tasks.keywords"),
    "Beyond accuracy": ("guide/recommenders", "tasks.beyond"),
    "Clicks and interleaving": ("guide/clicks", "tasks.clicks"),
    "Live engines": ("guide/engines", "tasks.engine"),
    "Files and data": (
        "reference/formats",
        "io",
        "files.conversion",
        "files.writing",
        "data.tables",
        "data.preferences",
    ),
    "Measures": ("understand/measures", "measures", "files.explanations", "data"),
}
"""Groups of names, each with its page and its modules; the first that fits decides."""
COMMANDS: Mapping[str, str] = {
    "ComparisonResults": "compare",
    "Results": "report",
    "compare_values": "compare",
    "eval_q2m": "crossmodal",
    "evaluate_citations": "rag-citations",
    "evaluate_engine": "engine-run",
    "evaluate_interleaving": "clicks-credit",
    "interleave": "clicks-interleave",
    "tune_fusion": "fuse",
}
"""The commands of names that are called otherwise."""
_OPTIONS_EXAMPLE = """\
>>> import rankwell as rw
>>> choices = rw.EvaluateOptions(ties="expected", intervals="none")
>>> qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
>>> rw.evaluate(qrels, run, "RR", options=choices)["RR"]
0.75"""
INTERNAL = ("as_folder", "origin", "value_rows")
"""Members that other modules call, and users do not."""
INTERNAL_PARAMETERS = (
    "BenchResults.render.terminal",
    "Check.text.terminal",
    "compare_values.origin",
    "read_ranking.findings",
)
"""Parameters that other modules pass, and users do not."""
_FIELD = re.compile(r"^([a-z]\w*(?:, [a-z]\w*)*): (.+(?:\n    .+)*)\n?", re.MULTILINE)
_START = r"(?:^|(?<=\. ))"
_PART = _START + r"{} (.+?)(?=\n\n|\n(?:Raises|Returns|Source:) |\Z)\n?"
_NAMED = _START + r"((?:{0})(?:, (?:{0}))*): (.+?)(?=\n\n|" + _START + r"(?:{0})(?:, \w+)*: |\Z)"


class Text:
    """A docstring in parts. summary: its first paragraph. parameters: their texts by name."""

    def __init__(self, value: Any) -> None:
        body, mark, example = (inspect.getdoc(value) or "").partition("\n\n>>> ")
        body, _, section = body.partition("\n\nParameters\n----------\n")
        blocks = [block.partition("\n") for block in re.split(r"\n+(?=\S)", section) if block]
        self.example = [f"```pycon\n>>> {example.strip()}\n```"] if mark else []
        self.parameters = {head.partition(":")[0].strip("*"): text for head, _, text in blocks}
        self.parts = dict[str, str]()
        for name in ("Raises", "Returns", "Source:"):
            if found := re.search(_PART.format(name), body, re.MULTILINE | re.DOTALL):
                self.parts[name] = _sentence(found[1])
                body = body.replace(found[0], "")
        fields = _FIELD
        if inspect.isroutine(value := getattr(value, "__func__", value)):
            names = "|".join(inspect.signature(value).parameters)
            fields = re.compile(_NAMED.format(names), re.MULTILINE | re.DOTALL)
        for names, text in fields.findall(body):
            self.parameters |= dict.fromkeys(names.split(", "), text)
        self.parameters = {name: _sentence(text) for name, text in self.parameters.items()}
        paragraphs = re.split(r"\n\n+", fields.sub("", body).strip())
        self.summary, *self.notes = (_sentence(each) for each in paragraphs if each.strip())

    def raises(self) -> Iterator[tuple[list[str], str]]:
        """Errors that are raised for one reason, with the reason."""
        errors = [name for name in rankwell.__all__ if _kind(name) == "error"]
        names: list[str] = []
        pieces = re.split(
            rf"\b({'|'.join([*errors, 'TypeError'])})\b", self.parts.get("Raises", "")
        )
        for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
            names.append(name)
            if reason := re.sub(r"^,? ?(and )?$|[,;.]? ?(and )?$", "", text.strip() + " ").strip():
                yield names, f"{_sentence(reason)}."
                names = []


def _sentence(text: str) -> str:
    """A text on one line, with a capital."""
    line = " ".join(text.split()).replace(" -> ", " → ")
    line = re.sub(r" \[default: (.*?)\]", r" By default: \1.", line)
    return line[:1].upper() + line[1:] if re.match(r"[a-z]+[ ,:]", line) else line


class Page:
    """The page of a public function or class. known: names that are no links on it."""

    def __init__(self, name: str) -> None:
        self.name, self.value, self.known = name, getattr(rankwell, name), {name}

    def text(self, siblings: Sequence[str]) -> str:
        """The whole page. siblings: the names of its group."""
        text, shown = Text(self.value), f"rw.{self.name}"
        parts = [f"# {shown}", NOTE, self._linked(text.summary)]
        # Classes that functions make describe some of their fields, others all parameters.
        is_made = not set(inspect.signature(self.value).parameters) <= text.parameters.keys()
        if is_made:
            parts += [*map(self._linked, text.notes), *text.example]
        else:
            parts += self._described(shown, self.value, "## {}")
        if isinstance(self.value, type):
            parts += self._members(() if is_made else text.parameters)
        parts += ["## See also", "\n".join(f"* {each}" for each in self._see_also(siblings))]
        return "\n\n".join(parts)

    def _see_also(self, siblings: Sequence[str]) -> Iterator[str]:
        command = COMMANDS.get(self.name, self.name.removeprefix("evaluate_"))
        if (words := tuple(command.split("-"))) in command_summaries():
            yield f"The command [`rankwell {' '.join(words)}`](../commands/{command}.md)"
        title = group(self.name)
        yield f"[{title}](../../{GROUPS[title][0]}.md)"
        if others := [link(name) for name in siblings if name != self.name]:
            yield ", ".join(others)

    def _described(self, shown: str, function: Any, heading: str) -> list[str]:
        """Signature, parameters, what is returned and raised, notes, source and examples."""
        text, stub, is_class = Text(function), Stub(rankwell.__all__), isinstance(function, type)
        typed, outcome = stub.typed(function)
        typed = [
            each._replace(type=plain(each.type))
            for each in typed
            if each.name not in ("self", "cls", *internal(function))
        ]
        self.known |= {each.name for each in typed}
        lines = "".join(f"\n    {each}," for each in typed) + "\n" * bool(typed)
        returned = "" if is_class else plain(stub.type_text(outcome)).replace("Self", self.name)
        returned = "" if returned == "Any" else returned
        arrow = f" -> {returned}" if returned else ""
        is_page = heading.startswith("#")
        parts = [] if is_page else [*map(self._linked, text.notes)]
        parts.append(f"```python\n{shown}({lines}){arrow}\n```")
        prefix = "" if is_page else f"{function.__name__}."
        entries: list[str] = []
        for each in typed:
            if said := text.parameters.get(name := each.name.strip("*")):
                about = [self._linked_type(each.type)] * bool(each.type)
                about += [f"default `{each.default}`"] * bool(each.default)
                if name == "options":
                    said = f"{said.rstrip('.')}; see [Options as one object](options.md)."
                entries.append(
                    f'<a id="{prefix}{name}" href="#{prefix}{name}"><code>{each.name}</code></a>'
                    f"{': ' * bool(about)}{', '.join(about)}\n:   {self._linked(said)}"
                )
        parts += [heading.format("Parameters"), *entries] if entries else []
        if is_page and not is_class:
            parts += [heading.format("Returns"), *self._returned(outcome, returned, text)]
        elif said := text.parts.get("Returns"):
            parts += [heading.format("Returns"), self._linked(said)]
        if reasons := [*text.raises()]:
            parts.append(heading.format("Raises"))
            parts += [
                f"{', '.join(map(link, names))}\n:   {self._linked(reason)}"
                for names, reason in reasons
            ]
        if is_page and text.notes:
            parts += [heading.format("Notes"), *map(self._linked, text.notes)]
        if source := text.parts.get("Source:"):
            parts += [heading.format("References"), source]
        return parts + [heading.format("Examples")] * bool(text.example) + text.example

    def _returned(self, outcome: Any, shown: str, text: Text) -> Iterator[str]:
        """The type that a function returns, linked where it is public, else with its members."""
        said = self._linked(text.parts.get("Returns", ""))
        classes = [each for each in (outcome, *get_args(outcome)) if isinstance(each, type)]
        own = next((each for each in classes if each.__module__.startswith("rankwell.")), None)
        if own is None:
            yield f"`{shown}`\n:   {said}" if shown else said
            return
        term = self._linked_type(shown)
        base = _public(own.__mro__)
        if base == own.__name__:
            yield f"{term}\n:   {said or Text(own).summary}"
        else:
            also = f" It has everything of {link(base)}, and:" if base else ""
            yield f"{term}\n:   {said or Text(own).summary}{also}"
            yield table(
                (f"`{called(getattr(own, name)) if is_method else name}`", summary)
                for name, summary, is_method in members(own)
                # A class method makes another object.
                if not inspect.ismethod(getattr(own, name, None))
            )

    def _members(self, parameters: Collection[str]) -> Iterator[str]:
        """Tables of attributes that are no parameters and of methods, then each method."""
        if base := _public(self.value.__mro__[1:]):
            yield f"It has everything of {link(base)}, and:"
        found = [*members(self.value)]
        methods = [each for each in found if each[2]]
        attributes = [
            (f"`{name}`", self._linked(summary))
            for name, summary, method in found
            if not method and name not in parameters
        ]
        if attributes:
            heading = "Further attributes" if parameters else "Attributes"
            yield f"## {heading}\n\n{table(attributes)}"
        if methods:
            rows = ((f"[`{name}`](#{name})", self._linked(text)) for name, text, _ in methods)
            yield f"## Methods\n\n{table(rows)}"
        for name, summary, _ in methods:
            yield f"### {name}\n\n{self._linked(summary)}"
            yield from self._described(f"{self.name}.{name}", getattr(self.value, name), "**{}**")

    def _linked_type(self, kind: str) -> str:
        """A type as code in which public classes are links."""
        classes = [name for name in rankwell._homes() if name[0].isupper() and name != self.name]
        pieces = re.split(rf"\b({'|'.join(classes)})\b", kind)
        pieces[1::2] = map(link, pieces[1::2])
        pieces[::2] = (re.sub(r"\S(.*\S)?", r"`\g<0>`", piece) for piece in pieces[::2])
        return "".join(pieces)

    def _linked(self, text: str) -> str:
        """A text in which public names are links, those of the page and of parameters excepted."""
        return re.sub(
            r"(?<!\[)`(\w+)`",
            lambda name: name[0] if name[1] in self.known else link(name[1]),
            text,
        )


def _public(classes: Iterable[type]) -> str:
    """The name of the first public class, or ""."""
    return next((each.__name__ for each in classes if each.__name__ in rankwell.__all__), "")


def members(kind: type) -> Iterator[tuple[str, str, bool]]:
    """Names and meanings of the public members of a class up to its first public base, and whether
    each is a method.
    """
    names, own = set[str](), Text(kind).parameters
    for base in kind.__mro__:
        if base is not kind and base.__name__ in rankwell.__all__:
            return
        if not base.__module__.startswith("rankwell.") or not base.__doc__:
            continue
        # The fields of bases are those that the class names, where it names any.
        fields = Text(base).parameters if base is kind or not own else {}
        found = {name: (text, False) for name, text in fields.items()}
        for name, value in vars(base).items():
            inner = getattr(value, "func", getattr(value, "fget", value))
            is_method = inner is value and inspect.isroutine(value)
            is_shown = name[0] != "_" and name not in INTERNAL and inspect.getdoc(inner)
            # A class may refuse what its base does.
            refuses = getattr(value, "__annotations__", {}).get("return") is NoReturn
            if is_shown and not refuses and (is_method or inner is not value):
                found[name] = Text(inner).summary, is_method
        yield from ((name, *found[name]) for name in found if name not in names)
        names |= found.keys()


def internal(function: Any) -> list[str]:
    """The parameters of a function that users do not pass."""
    names = [each.rpartition(".") for each in INTERNAL_PARAMETERS]
    return [name for owner, _, name in names if owner == function.__qualname__]


def called(function: Any) -> str:
    """A method with its arguments, as it is called."""
    arguments: list[str] = []
    for name, each in inspect.signature(function).parameters.items():
        is_named = each.default is not each.empty or each.kind is each.KEYWORD_ONLY
        star = "*" if each.kind is each.VAR_POSITIONAL else ""
        if name not in ("self", *internal(function)):
            arguments.append(f"{name}=…" if is_named else f"{star}{name}")
    return f"{function.__name__}({', '.join(arguments)})"


def table(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and meanings."""
    lines = [f"| {name} | {meaning.replace('|', chr(92) + '|')} |" for name, meaning in rows]
    return "\n".join(["| name | meaning |", "| --- | --- |", *lines])


def plain(kind: str) -> str:
    """A type without what says nothing: elements of any type, the shape of arrays, the word of
    literals.
    """
    kind = re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]", r"ndarray[\1]", kind)
    kind = re.sub(r"Literal\[(.*?)\]", lambda found: found[1].replace(", ", " | "), kind)
    return re.sub(r"\[(\.\.\.|Any)(, Any)*\]", "", kind)


def link(name: str) -> str:
    """A name as code, linked where it is public."""
    return f"[`{name}`]({place(name)})" if name in rankwell._homes() else f"`{name}`"


def place(name: str) -> str:
    """The page of a public name: errors have one, and so have options. Some file systems know no
    capitals.
    """
    if (kind := _kind(name)) in ("error", "options"):
        return f"{kind.rstrip('s')}s.md#{name.lower()}"
    is_twice = name.lower() != name and name.lower() in rankwell._homes()
    return f"{name}{'-class' * is_twice}.md"


def _kind(name: str) -> str:
    value = getattr(rankwell, name)
    if not isinstance(value, type):
        return "function"
    if issubclass(value, Exception):
        return "error"
    return "options" if name.endswith(("Options", "Style")) else "class"


def group(name: str) -> str:
    """The title of the group of a public name."""
    home = f"{rankwell._homes()[name]}."
    for title, (_, *modules) in GROUPS.items():
        if home.startswith(tuple(f"rankwell.{module}." for module in modules)):
            return title
    raise SystemExit(f"tools/python_reference.py: add {home[:-1]} to GROUPS")


def python_pages() -> dict[str, str]:
    """Pages by their place in docs/. Ends for a public name without a docstring."""
    names = sorted(rankwell._homes(), key=lambda name: (name[0].isupper(), name.lower()))
    for name in names:
        if not inspect.getdoc(getattr(rankwell, name)):
            raise SystemExit(
                f"rankwell.{name} has no docstring; write one, since the Python reference shows it"
            )
    groups: dict[str, list[str]] = {title: [] for title in GROUPS}
    kinds: dict[str, list[str]] = {"error": [], "options": []}
    for name in names:
        (kinds[_kind(name)] if _kind(name) in kinds else groups[group(name)]).append(name)
    pages = {place(name): Page(name).text(each) for each in groups.values() for name in each}
    pages["errors.md"], pages["options.md"] = _errors(kinds["error"]), _options(kinds["options"])
    pages["index.md"] = _index(groups)
    lines = ["nav:", "  - index.md"]
    for title, each in groups.items():
        lines += [f"  - {title}:", *(f"      - {place(name)}" for name in each)]
    pages[".nav.yml"] = "\n".join([*lines, "  - errors.md", "  - options.md"])
    return {f"reference/python/{page}": text for page, text in pages.items()}


def _index(groups: Mapping[str, Sequence[str]]) -> str:
    parts = [
        f"# Python\n\n{NOTE}",
        "What `import rankwell as rw` gives you. `help(rw.evaluate)` shows the same texts where "
        "you work. Functions raise [errors](errors.md) whose messages say what to correct, and "
        "take options as keywords or as [one object](options.md). In signatures, `DataFrame` is "
        "any data frame, of pandas, Polars, PyArrow or DuckDB, and `Array` is any array of numbers "
        "or ids, such as a NumPy array or a PyTorch tensor.",
    ]
    for title, names in {"The ten you need": TEN, **groups}.items():
        rows = ((link(name), Text(getattr(rankwell, name)).summary) for name in names)
        parts.append(f"## {title}\n\n{table(rows)}")
    return "\n\n".join(parts)


def _errors(names: Sequence[str]) -> str:
    parts = [
        f"# Errors\n\n{NOTE}",
        "`except rw.RankwellError` catches every error of this page. The command line ends with "
        "its exit code.",
    ]
    for name in names:
        error = getattr(rankwell, name)
        base = error.__mro__[1].__name__
        also = f" A kind of {link(base)}." if base in names else ""
        parts.append(f"## {name}\n\n{Text(error).summary}{also} Exit code {error.exit_code}.")
    return "\n\n".join(parts)


def _options(names: Sequence[str]) -> str:
    parts = [
        f"# Options as one object\n\n{NOTE}",
        "Most programs pass options as keywords. To use the same choices in several calls, make "
        "one object and pass it as `options`. A keyword beside it replaces one field.",
        f"```pycon\n{_OPTIONS_EXAMPLE}\n```",
    ]
    takers = [*_takers()]
    for name in names:
        options = getattr(rankwell, name)
        parts.append(f"## {name}\n\n{Text(options).summary}")
        for taker, start, kind in takers:
            if issubclass(kind, options):
                fields = [
                    f"[`{each}`]({start}{each})" for each in inspect.signature(options).parameters
                ]
                parts.append(f"Fields, as keywords of {taker}: {', '.join(fields)}.")
    return "\n\n".join(parts)


def _takers() -> Iterator[tuple[str, str, type]]:
    """Functions and methods of options: the link to each, the beginning of the places of its
    parameters, and the class of its options.
    """
    for name in sorted(rankwell._homes()):
        value, page = getattr(rankwell, name), place(name)
        functions = {name: (f"{page}#", value)} if _kind(name) == "function" else {}
        if _kind(name) == "class":
            functions = {
                f"{name}.{method}": (f"{page}#{method}.", getattr(value, method))
                for method, _, is_method in members(value)
                if is_method
            }
        for shown, (start, function) in functions.items():
            if "options" in inspect.signature(function).parameters:
                target = start.rstrip("#.")
                kind = get_type_hints(inspect.unwrap(function))["options"]
                yield f"[`{shown}`]({target})", start, kind
