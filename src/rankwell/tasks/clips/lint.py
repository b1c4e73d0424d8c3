"""Problems of an annotation table and of text queries, before they are used."""

import difflib
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from rankwell import report
from rankwell.errors import BadUsage, count_of
from rankwell.evaluation.judged import refuse_one_stream
from rankwell.report.options import Output
from rankwell.store import Source
from rankwell.task import printed_rows
from rankwell.tasks.clips.annotations import Annotations, Keyword, fold
from rankwell.tasks.clips.formats import find_text_queries, read_annotations
from rankwell.tasks.clips.mapping import WITHOUT_ENCODER, MappedText, in_doubt, mapper_of
from rankwell.tasks.clips.options import LintOptions, names
from rankwell.tasks.clips.truth import Required, judge

_PLACEHOLDERS = ("n a", "na", "undefined", "unclear", "tbd", "todo", "xxx", "tba")
_ALIKE = 0.8
_HARMLESS = {"never used", "two groups"}
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


def print_findings(
    annotations: str, *, options: LintOptions, format: report.Format = "table"
) -> Output:
    """The problems of a table and of texts, the most probable mistakes first."""
    refuse_one_stream([annotations, options.schema, options.queries])
    if options.queries is None and options.chosen:
        raise BadUsage(
            f"{', '.join(options.chosen)}: without --queries no text is mapped; leave it out."
        )
    groups = names(options.groups, "--groups")
    table = read_annotations(annotations, schema=options.schema, groups=groups)
    found, notes = findings(table), list[str]()
    size = (
        f"{count_of(len(table.clips), 'clip')}, {int((table.uses > 0).sum())} keywords in "
        f"{len(table.groups)} groups"
    )
    if options.queries is not None:
        n_texts, of_texts = _query_findings(options.queries, options, table)
        found, size = [*of_texts, *found], f"{size}, {count_of(n_texts, 'text')}"
        if options.encoder is None and any(row.kind == "nothing mapped" for row in of_texts):
            notes = [WITHOUT_ENCODER]
    counts = Counter(finding.kind for finding in found)
    summary = ", ".join(f"{number} × {kind}" for kind, number in counts.items()) or "nothing odd"
    return Output(
        printed_rows(
            [finding._asdict() for finding in found], format, tables=[_rows_for_people(found)]
        )
        if found or format == "json"
        else "",
        notes=(f"{Source(annotations).name}: {size}: {summary}", *notes),
        exit_code=int(options.strict and not counts.keys() <= _HARMLESS),
    )


def _query_findings(
    queries: str, options: LintOptions, table: Annotations
) -> tuple[int, list[LintFinding]]:
    """The number of different texts of a file, and their problems."""
    mapper, _ = mapper_of(options, table.vocabulary)
    listed, wordless = find_text_queries(queries)
    texts = list(dict.fromkeys(query.text for query in listed))
    mapper.prepare(texts)
    what = "the text has no word; write one, or leave the query out"
    return len(texts) + len(wordless), [
        *(LintFinding("no word", "", row, 0, what) for row in wordless),
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


def _rows_for_people(found: Sequence[LintFinding]) -> list[report.Row]:
    """The findings, with the unused labels in one line per group at the end."""
    unused: dict[str, list[str]] = {}
    for finding in found:
        if finding.kind == "never used":
            unused.setdefault(finding.group, []).append(finding.label)
    rows = [finding for finding in found if finding.kind != "never used"]
    for group, labels in unused.items():
        more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
        what = f"{len(labels)} declared and on no clip: {', '.join(labels[:_SHOWN])}{more}"
        rows.append(LintFinding("never used", group, "", 0, what))
    # A label is elsewhere the word for a measure.
    columns = ["keyword" if name == "label" else name for name in LintFinding._fields]
    return [dict(zip(columns, row, strict=True)) for row in rows]


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
