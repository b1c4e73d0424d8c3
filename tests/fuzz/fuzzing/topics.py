"""Fuzzer of TREC topics, in the form of `<top>` without closing tags and in that of `<topic
number="1">`.
"""

from html import escape
from html.parser import HTMLParser
from pathlib import Path
from random import Random

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import text_file
from fuzzing.tables import content, read

_WORDS = ("black bear attacks", "what is it?", "5 < 6", 'say "so"', "é & ü", "a; b")


def _write(rng: Random, folder: Path) -> Path:
    """A small file of topics in one of the two forms."""
    numbers = rng.sample(["301", "302", "7", "MB01"], rng.randint(1, 3))
    topics = {number: (rng.choice(_WORDS), rng.choice(_WORDS)) for number in numbers}
    path = folder / "input.topics"
    if rng.random() < 0.5:
        lines = [
            (
                f"<top>\n\n<num> Number: {number}\n<title> {title}\n\n<desc> "
                f"Description:\n{more}\n\n</top>\n"
            )
            for number, (title, more) in topics.items()
        ]
        text = "\n".join(lines)
    else:
        lines = [
            f'<topic number="{number}">\n<query>{escape(title, quote=False)}</query>\n'
            f"<description>{escape(more, quote=False)}</description>\n</topic>\n"
            for number, (title, more) in topics.items()
        ]
        text = f"<topics>\n{''.join(lines)}</topics>\n"
    path.write_text(text, encoding="utf-8", newline="")
    return path


class _Parser(HTMLParser):
    """The tags of a file in order, and the text behind each."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[list[str]] = [["", ""]]
        self.numbers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "topic":
            self.numbers.append(dict(attrs).get("number") or "")
        self.found.append([tag, ""])

    def handle_endtag(self, tag: str) -> None:
        self.found.append([f"/{tag}", ""])

    def handle_data(self, data: str) -> None:
        self.found[-1][1] += data


def _plain(path: Path) -> dict[str, str]:
    """The texts, of files that have nothing but the tags that `_write` gives them, in their
    order.
    """
    text = content(path).decode("utf-8", "surrogateescape")
    parser = _Parser()
    parser.feed(text)
    parser.close()
    tags = [tag for tag, _ in parser.found[1:]]
    if not tags or text.count("<") != len(tags) + text.count("5 < 6"):
        raise Undecided("other tags")
    old = ["top", "num", "title", "desc", "/top"]
    new = ["topic", "query", "/query", "description", "/description", "/topic"]
    values = [" ".join(value.split()) for _, value in parser.found]
    found = dict[str, str]()
    if tags == old * (len(tags) // 5):
        pairs = [
            (values[place + 2].removeprefix("Number:").strip(), values[place + 3])
            for place in range(0, len(tags), 5)
        ]
    elif (
        tags[:1] == ["topics"]
        and tags[-1:] == ["/topics"]
        and tags[1:-1] == new * (len(tags[1:-1]) // 6)
    ):
        pairs = list(
            zip(
                parser.numbers,
                (values[place + 3] for place in range(0, len(tags) - 2, 6)),
                strict=True,
            )
        )
    else:
        raise Undecided("other tags")
    if any(name != name.strip() for name, _ in pairs):
        raise Undecided("white space beside a number")
    if not all(name and " " not in name for name, _ in pairs) or len(dict(pairs)) < len(pairs):
        raise Refused("a number twice or none")
    if (
        any(not text for _, text in pairs)
        or "Topic:" in text
        or "&" in text.replace("& ü", "").replace("&amp; ü", "")
    ):
        raise Undecided("an empty text, a label or an entity")
    found.update(pairs)
    return found


FUZZERS[f"{FORMATS}: trec-topics texts"] = Fuzzer(
    _write, text_file, read("texts", "trec-topics"), _plain
)
