"""TREC topics: texts of queries between the tags of `<top>` (with or without closing tags) or
`<topic number="1">`.
"""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple

from rankwell.data.findings.kinds import reading_choice
from rankwell.errors import BadInput, BadLine
from rankwell.io.formats import Request, Texts, file_format
from rankwell.store import Head, Source, decode_id

_TEXTS = ("title", "query", "question", "summary", "smry", "desc", "description", "")
"""The fields that may be the text of a topic, the most usual first; the last is the content of a
topic without fields.
"""
_NUMBERS = ("num", "number")
_LABELS = {
    **{
        "num": "Number",
        "title": "Topic",
        "desc": "Description",
        "narr": "Narrative",
        "dom": "Domain",
        "smry": "Summary",
    },
    **{"con": "Concept(s)", "fac": "Factor(s)", "def": "Definition(s)"},
}
"""Words that TREC writes at the beginning of a field."""
_BEFORE = r"(?:\s|<\?xml[^>]*>|<!DOCTYPE[^>]*>|<!--.*?-->|</?(?:topics|xml|parameters)\b[^>]*>)*+"
"""All that stands before a topic; possessive, or each comment would be tried up to the end of every
later one.
"""
_BEGIN = re.compile(rf"{_BEFORE}<(?P<tag>top|topic)\b(?P<own>[^<>]*)>", re.DOTALL | re.IGNORECASE)
_REST = re.compile(_BEFORE, re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(?P<tag>[A-Za-z][\w-]*)\b[^<>]*>")
_NUMBER = re.compile(
    r"""(?:^|\s)(?:number|num|id|qid)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^"'\s]+)(?=\s|$))""",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d+|#x[0-9a-f]+|\w+);", re.IGNORECASE)


class _Topic(NamedTuple):
    """The part of a file between the tags of a topic.

    line: number of the line where it begins, from 1.
    attributes: the text of the attributes in its opening tag.
    body: the text between the tags.
    """

    line: int
    attributes: str
    body: str


def _sniff(head: Head) -> float:
    """Sure of a tag of a topic at the very beginning."""
    return 0.97 * (_BEGIN.match(head.text) is not None)


@file_format("trec-topics", "texts", sniff=_sniff)
def read_texts(source: Source, request: Request) -> Texts:
    """The titles of TREC topics by their numbers (or queries, questions, descriptions); all other
    fields are attributes.

    Raises BadLine for a topic without a number or without its end, and for what is outside topics,
    BadInput for a number that appears twice and where no topic has a text.
    """
    fields_by_topic = dict[str, dict[str, str]]()
    for topic in _topics(source):
        fields = _fields(topic.body)
        number = _NUMBER.search(topic.attributes)
        topic_numbers = (
            [number_text for number_text in number.groups() if number_text]
            if number
            else [fields.pop(key) for key in _NUMBERS if key in fields]
        )
        name = topic_numbers[0].strip() if topic_numbers else ""
        if not name or len(name.split()) > 1:
            problem = f"a topic with the number {name!r}" if name else "a topic without a number"
            raise BadLine(
                f"{source.name}:{topic.line}: {problem}; expected <num> Number: 301, or <topic "
                'number="301">.'
            )
        if name in fields_by_topic:
            raise BadLine(
                f"{source.name}:{topic.line}: the topic {name!r} already appears above; every "
                "text needs its own id."
            )
        fields_by_topic[name] = fields
    field = next(
        (key for key in _TEXTS if any(fields.get(key) for fields in fields_by_topic.values())), None
    )
    if field is None:
        field_list = (
            ", ".join(sorted({key for fields in fields_by_topic.values() for key in fields if key}))
            or "none"
        )
        expected = ", ".join(filter(None, _TEXTS))
        raise BadInput(
            f"{source.name}: no topic has a text ({expected}); found are the fields {field_list}."
        )
    if field not in _TEXTS[:2]:
        reading = f"the topics have no title; their text is the field {field or 'topic'}"
        request.findings.append(reading_choice(reading, source.name))
    texts = {name: fields.pop(field, "") for name, fields in fields_by_topic.items()}
    attributes = {
        name: {key: text for key, text in fields.items() if key and text}
        for name, fields in fields_by_topic.items()
    }
    return Texts(dict.fromkeys(texts, "") if request.ids_only else texts, attributes)


def _topics(source: Source) -> Iterator[_Topic]:
    text = decode_id(source.read())
    position = counted = 0
    line = 1
    while begin := _BEGIN.match(text, position):
        line += text.count("\n", counted, begin.start("tag"))
        counted = begin.start("tag")
        end = re.compile(rf"</{begin['tag']}\s*>|(?=<{begin['tag']}\b)", re.IGNORECASE).search(
            text, begin.end()
        )
        if end is None:
            raise BadLine(
                f"{source.name}:{line}: the topic has no end (</{begin['tag']}>); is the file "
                "whole?"
            )
        yield _Topic(line, begin["own"], text[begin.end() : end.start()])
        position = end.end()
    trailing = _REST.match(text, position)
    position = trailing.end() if trailing else position
    if position < len(text):
        line += text.count("\n", counted, position)
        raise BadLine(
            f"{source.name}:{line}: {text[position : position + 60]!r} is outside a topic; "
            "expected "
            "<top> or <topic>."
        )


def _fields(body: str) -> dict[str, str]:
    """The fields of a topic by their tags, and under the empty name the text before them."""
    body = re.sub(
        r"<!\[CDATA\[(.*?)\]\]>",
        lambda match: html.escape(match[1], quote=False),
        body,
        flags=re.DOTALL,
    )
    first = _FIELD.search(body)
    fields = {"": _plain("", body[: first.start()] if first else body)}
    while first:
        tag = first["tag"].lower()
        closing = re.compile(rf"</{tag}\s*>", re.IGNORECASE).search(body, first.end())
        following = _FIELD.search(body, first.end())
        if closing is None:
            stop = end = following.start() if following else len(body)
        else:
            stop, end = closing.start(), closing.end()
        text = _plain(tag, body[first.end() : stop])
        fields[tag] = "; ".join(filter(None, (fields.get(tag, ""), text)))
        first = _FIELD.search(body, end)
    return fields


def _plain(tag: str, text: str) -> str:
    """The text of a field in one line, without tags inside it, entities and the label at its
    beginning.
    """
    text = re.sub(r"</?[A-Za-z][^<>]*>", " ", text)
    text = " ".join(_ENTITY.sub(lambda match: html.unescape(match[0]), text).split())
    return text.removeprefix(f"{_LABELS[tag]}:").strip() if tag in _LABELS else text
