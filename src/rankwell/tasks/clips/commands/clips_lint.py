"""Check an annotation table before it is used: undeclared and doubled labels, unread columns, clips
without a keyword.
"""

import difflib
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, NamedTuple

import numpy as np

from rankwell import report
from rankwell.core.options import Input
from rankwell.errors import BadUsage, count_of
from rankwell.evaluation.judged import refuse_one_stream
from rankwell.report.options import FormatOption, Output
from rankwell.store import Source
from rankwell.tasks.clips.annotations import Annotations, Keyword, fold
from rankwell.tasks.clips.formats import find_text_queries, read_annotations
from rankwell.tasks.clips.mapping import WITHOUT_ENCODER, KeywordMapper, MappedText, in_doubt
from rankwell.tasks.clips.options import MappingOptions, names
from rankwell.tasks.clips.phrases import load_keybert
from rankwell.tasks.clips.truth import Required, judge

_PLACEHOLDERS = ("n a", "na", "undefined", "unclear", "tbd", "todo", "xxx", "tba")
_ALIKE = 0.8
_HARMLESS = ("never used", "two groups")
_SHOWN = 3


class LintFinding(NamedTuple):
    """A problem of an annotation table or of a text query.

    group, label: empty where it is not about a label; the label is also a column, a clip or a text.
    clips: how many have it.
    """

    kind: str
    group: str
    label: str
    clips: int
    message: str


def lint(
    annotations: str,
    /,
    *,
    schema: str | None = None,
    groups: str | None = None,
    queries: Annotated[str | None, Input()] = None,
    mapping: MappingOptions,
    strict: bool = False,
    format: FormatOption = "table",
) -> Output:
    """Check an annotation table before it is used: undeclared and doubled labels, unread columns,
    clips without a keyword.

    Parameters
    ----------
    annotations
        Table of clips: slice_id and a column of keywords per group, or one column keywords (CSV,
        TSV, JSON lines, Parquet).
    schema
        JSON file {group: [label, ...]} of the declared keywords.
    groups
        Further columns that hold keywords, separated by commas.
    queries
        Text queries, as in rankwell clips evaluate: a text per line, or a table with text. Those
        that have no word, mean no keyword, only exclude keywords, have no relevant clip or words
        that may mean several keywords are listed, each once.
    strict
        Exit code 1 where anything is found but labels that are unused or in two groups.
    """
    refuse_one_stream([annotations, schema, queries])
    table = read_annotations(annotations, schema=schema, groups=names(groups, "--groups"))
    found = findings(table)
    size = (
        f"{count_of(len(table.clips), 'clip')}, {int((table.uses > 0).sum())} keywords in "
        f"{len(table.groups)} groups"
    )
    n_texts, of_texts = _check_queries(queries, mapping, table)
    if n_texts:
        found, size = [*of_texts, *found], f"{size}, {count_of(n_texts, 'text')}"
    is_by_name = mapping.encoder is None and any(each.kind == "nothing mapped" for each in of_texts)
    notes = [WITHOUT_ENCODER] if is_by_name else []
    counts = Counter(each.kind for each in found)
    summary = (
        ", ".join(f"{number} × {kind}" for kind, number in counts.items())
        if found
        else "nothing odd"
    )
    is_read = format in ("table", "md", "latex")
    rows = [each._asdict() for each in (_for_people(found) if is_read else found)]
    if is_read:
        # A label is elsewhere the word for a measure.
        rows = [
            {"keyword" if name == "label" else name: cell for name, cell in row.items()}
            for row in rows
        ]
    text = (
        report.render_rows(rows, format, terminal=report.terminal_of(sys.stdout)) if found else ""
    )
    if not found and format == "json":
        text = report.render_rows([], format)
    odd = any(each.kind not in _HARMLESS for each in found)
    return Output(
        text=text,
        notes=(f"{Source(annotations).name}: {size}: {summary}", *notes),
        exit_code=int(strict and odd),
    )


def _check_queries(
    queries: str | None, mapping: MappingOptions, table: Annotations
) -> tuple[int, list[LintFinding]]:
    """The number of different texts of a file, and their problems. Raises BadUsage for options that
    nothing reads.
    """
    rules = {
        "--encoder": mapping.encoder,
        "--keyword-threshold": mapping.keyword_threshold,
        "--strategy": mapping.strategy,
    }
    if queries is None and (unused := [name for name, value in rules.items() if value is not None]):
        raise BadUsage(f"{', '.join(unused)}: without --queries no text is mapped; leave it out.")
    if mapping.keyword_threshold is not None and mapping.encoder is None:
        raise BadUsage("--keyword-threshold requires --encoder, which finds similar words.")
    if queries is None:
        return 0, []
    listed, wordless = find_text_queries(queries)
    encode = None if mapping.encoder is None else load_keybert(mapping.encoder)
    strategy, threshold = mapping.strategy or "cover", mapping.keyword_threshold
    mapper = KeywordMapper(table.vocabulary, encode=encode, strategy=strategy, threshold=threshold)
    texts = list(dict.fromkeys(each.text for each in listed))
    mapper.prepare(texts)
    found = [
        LintFinding(
            "no word", "", row, 0, "the text has no word; write one, or leave the query out"
        )
        for row in wordless
    ]
    return len(texts) + len(wordless), [
        *found,
        *text_findings([mapper.map_text(text) for text in texts], table),
    ]


def text_findings(mapped: Sequence[MappedText], table: Annotations) -> list[LintFinding]:
    """The texts that mean no keyword, that only exclude some, that no clip can answer and that are
    ambiguous; each text once.
    """
    truth = judge(
        Required.of_texts(table, {each.text: each.query_keywords for each in mapped}), table
    )
    n_relevant = dict(zip(truth.queries, np.diff(truth.offsets).tolist(), strict=True))
    found: dict[str, list[LintFinding]] = {
        "nothing mapped": [],
        "nothing required": [],
        "no relevant clip": [],
        "ambiguous": [],
    }
    for each in mapped:
        required, excluded = ([keyword.label for keyword in side] for side in each.query_keywords)
        if each.ambiguous:
            kind, message = (
                "ambiguous",
                "; ".join(in_doubt(*ambiguity) for ambiguity in each.ambiguous),
            )
        elif not required and not excluded:
            kind, message = "nothing mapped", "means no keyword: as a query it asks for nothing"
        elif not required:
            kind, message = (
                "nothing required",
                f"only excludes {' and '.join(excluded)}: as a query it asks for nothing",
            )
        elif not n_relevant[each.text]:
            without = f" without {' or '.join(excluded)}" if excluded else ""
            kind, message = "no relevant clip", f"no clip has {' and '.join(required)}{without}"
        else:
            continue
        found[kind].append(LintFinding(kind, "", each.text, 0, message))
    return [each for of_kind in found.values() for each in of_kind]


def _for_people(found: Sequence[LintFinding]) -> list[LintFinding]:
    """The findings, with the unused labels in one line per group at the end."""
    rest = [each for each in found if each.kind != "never used"]
    unused: dict[str, list[str]] = {}
    for each in found:
        if each.kind == "never used":
            unused.setdefault(each.group, []).append(each.label)
    for group, labels in unused.items():
        more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
        what = f"{len(labels)} declared and on no clip: {', '.join(labels[:_SHOWN])}{more}"
        rest.append(LintFinding("never used", group, "", 0, what))
    return rest


def findings(annotations: Annotations) -> list[LintFinding]:
    """The problems of annotations: unread columns and empty rows, then probable mistakes, then
    unused labels.
    """
    unread = "not read as keywords; name it (--groups) or declare it"
    columns = dict.fromkeys(
        name for attributes in annotations.attributes.values() for name in attributes
    )
    found = [LintFinding("unknown column", "", name, 0, unread) for name in columns]
    bare = "carries no keyword: as a query it asks for nothing"
    found += [LintFinding("empty row", "", clip, 1, bare) for clip in annotations.empty]
    uses = dict(zip(annotations.keywords, annotations.uses.tolist(), strict=True))
    for entry in annotations.undeclared:
        declared = [
            each.label for each in annotations.vocabulary.entries if each.group == entry.group
        ]
        near = difflib.get_close_matches(entry.label, declared, n=1, cutoff=0.75)
        hint = f"; {near[0]!r} is" if near else ""
        found.append(
            LintFinding("not declared", *entry, uses[entry], f"used and not declared{hint}")
        )
    found += [*_near_duplicates(annotations, uses), *_in_two_groups(annotations, uses)]
    for alias in annotations.vocabulary.shadowing:
        meant = ", ".join(
            sorted(
                {f"{entry.group}: {entry.label}" for entry in annotations.vocabulary.aliases[alias]}
            )
        )
        what = f"an alias of {meant} that reads like a label of its own; the label wins"
        found.append(LintFinding("shadowed", "", alias, 0, what))
    for entry in annotations.keywords:
        if " ".join(fold(entry.label)) in _PLACEHOLDERS:
            found.append(
                LintFinding(
                    "placeholder",
                    *entry,
                    uses[entry],
                    "says that there is no keyword; leave the cell empty",
                )
            )
    found += [
        LintFinding("read otherwise", "", "", 0, note)
        for note in annotations.notes
        if "not read as keywords" not in note
    ]
    unused = (
        [entry for entry in annotations.keywords if not uses[entry]]
        if annotations.schema is not None
        else []
    )
    return found + [
        LintFinding("never used", *entry, 0, "declared, and no clip carries it") for entry in unused
    ]


def _near_duplicates(annotations: Annotations, uses: dict[Keyword, int]) -> list[LintFinding]:
    undeclared = (
        set(annotations.undeclared) if annotations.schema is not None else set(annotations.keywords)
    )
    found: list[LintFinding] = []
    for one, two in combinations(annotations.keywords, 2):
        if (
            one.group != two.group
            or not {one, two} & undeclared
            or not _is_near(fold(one.label), fold(two.label))
        ):
            continue
        rare, common = sorted((one, two), key=lambda entry: (uses[entry], entry.label))
        message = (
            f"is nearly {common.label!r} ({count_of(uses[common], 'clip')}); write one of them"
        )
        found.append(LintFinding("near-duplicate", *rare, uses[rare], message))
    return found


def _is_near(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    if sorted(one) == sorted(two) or "".join(one) == "".join(two):
        return True
    return len(one) == len(two) and all(
        first == second
        or difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() >= _ALIKE
        for first, second in zip(one, two, strict=True)
    )


def _in_two_groups(annotations: Annotations, uses: dict[Keyword, int]) -> list[LintFinding]:
    groups: dict[tuple[str, ...], list[Keyword]] = {}
    for entry in annotations.keywords:
        groups.setdefault(fold(entry.label), []).append(entry)
    found: list[LintFinding] = []
    for entries in groups.values():
        for entry in entries if len(entries) > 1 else ():
            others = ", ".join(other.group for other in entries if other != entry)
            found.append(
                LintFinding("two groups", *entry, uses[entry], f"also a label of {others}")
            )
    return found
