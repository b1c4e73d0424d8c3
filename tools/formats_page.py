"""The page docs/reference/formats.md: every format of files with a small example."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from page_parts import data, lead, table
from registries import REGISTRIES, description

_SECTIONS: list[dict[str, Any]] = data("formats")["section"]
_KINDS = ("formats", "formats of questions, answers and passages", "forms of image sets")


class Example(NamedTuple):
    """A small file of a format. reading: the format's name where the content does not show it."""

    name: str
    holds: str
    file: str
    text: str
    reading: str


def examples() -> Iterator[Example]:
    """The examples of the page."""
    for section in _SECTIONS:
        for key, entry in section["formats"].items():
            if "example" in entry:
                name, _, holds = key.partition(" ")
                text = entry["example"].removeprefix("\n")
                yield Example(
                    name, holds or section["holds"], entry["file"], text, entry.get("as", "")
                )


def formats_page() -> str:
    """The text of the page. Ends for a section that names a format which is none."""
    known = {
        name if kind != "forms of image sets" else f"{name} images": REGISTRIES[kind][name]
        for kind in _KINDS
        for name in REGISTRIES[kind]
    }
    parts = [lead("Formats of files", "formats")]
    for section in _SECTIONS:
        kinds = section["holds"] if isinstance(section["holds"], list) else [section["holds"]]
        texts = {
            key if kinds[1:] else f"{key} {kinds[0]}": entry
            for key, entry in section["formats"].items()
        }
        if wrong := texts.keys() - known.keys():
            raise SystemExit(f"tools/pages/formats.toml: there is no format {min(wrong)!r}")
        for name in known:
            if name.rpartition(" ")[2] in kinds:
                texts.setdefault(name, {"text": description(known[name])})
        parts.append(f"## {section['title']}\n\n{section['lead']}\n")
        shown = {name: entry for name, entry in texts.items() if "file" in entry}
        parts += [_example(name, entry, known[name]) for name, entry in shown.items()]
        rows = [
            (_shown(name, kinds), entry["text"] + _written(known[name]))
            for name, entry in texts.items()
            if name not in shown
        ]
        parts += [table(("format", "what is read"), rows)] * bool(rows)
    return "\n".join(parts)


def _shown(name: str, kinds: Sequence[str]) -> str:
    bare, _, holds = name.rpartition(" ")
    if bare.startswith("python "):
        return f"{bare.removeprefix('python ')}, in Python"
    return f"`{bare}`" + f" ({holds})" * (len(kinds) > 1)


def _written(entry: Any) -> str:
    """The suffixes by which `convert` writes the format."""
    if not getattr(entry, "write", None):
        return ""
    suffixes = ", ".join(f"`{suffix}`" for suffix in entry.suffixes)
    return f" `convert` writes it{f' as {suffixes}' if suffixes else ''}."


def _example(name: str, entry: Mapping[str, str], registered: Any) -> str:
    bare, _, holds = name.rpartition(" ")
    suffix = entry["file"].rpartition(".")[2].removesuffix("l")
    return (
        f"### {bare} {{ #{holds}-{bare} }}\n\n{entry['text']}{_written(registered)}\n\n"
        f'```{suffix if suffix in ("json", "csv") else "text"} title="{entry["file"]}"\n'
        f"{entry['example'].strip(chr(10))}\n```\n"
    )
