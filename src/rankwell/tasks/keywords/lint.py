"""Problems of an annotation table and of text queries, before they are used."""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from rankwell import reporting
from rankwell.data.findings import Finding
from rankwell.data.tables import grouped
from rankwell.errors import BadUsage, count_of, first_of
from rankwell.evaluation.judged import refuse_one_stream
from rankwell.reporting.options import Output
from rankwell.store import Source
from rankwell.task import printed_rows
from rankwell.tasks.keywords.annotations import Annotations, Keyword, fold
from rankwell.tasks.keywords.findings import no_encoder
from rankwell.tasks.keywords.formats import find_text_queries, read_annotations
from rankwell.tasks.keywords.mapping import in_doubt, mapper_of
from rankwell.tasks.keywords.options import LintOptions, names
from rankwell.tasks.keywords.runs import KeywordMasks, judge

_PLACEHOLDERS = ("n a", "na", "undefined", "unclear", "tbd", "todo", "xxx", "tba")
_ALIKE = 0.8
_HARMLESS = {"never used", "two groups"}
_SHOWN = 3
_OF_TEXTS = ("nothing mapped", "nothing required", "no relevant clip", "ambiguous")


class LintFinding(NamedTuple):
    """A problem of an annotation table or of a text query.

    kind: a short name, such as `near-duplicate`; findings of one kind are counted together.
    group: the group of the keyword; empty for a problem without a keyword.
    label: the label, alias, column, clip, text or row with the problem; empty where the message
        names it.
    clips: number of clips with the problem; 0 for texts, columns and aliases.
    message: says what is wrong, and where possible what to do.
    """

    kind: str
    group: str
    label: str
    clips: int
    message: str


def print_findings(
    annotations: str, *, options: LintOptions, format: reporting.Format = "table"
) -> Output:
    """The problems of a table and of texts, the most probable mistakes first."""
    refuse_one_stream([annotations, options.schema, options.queries])
    if options.queries is None and options.chosen:
        raise BadUsage(
            f"{', '.join(options.chosen)}: without --queries no text is mapped; leave it out."
        )
    groups = names(options.keyword_groups, "--keyword-groups")
    table = read_annotations(annotations, schema=options.schema, groups=groups)
    for group in groups:
        table.find_group(group)
    problems, on_texts = list(findings(table)), list[Finding]()
    size = (
        f"{count_of(len(table.clips), 'clip')}, {int((table.uses > 0).sum())} keywords in "
        f"{len(table.groups)} groups"
    )
    if options.queries is not None:
        n_texts, of_texts = _text_findings(options, table)
        problems, size = [*of_texts, *problems], f"{size}, {count_of(n_texts, 'text')}"
        if options.encoder is None and any(row.kind == "nothing mapped" for row in of_texts):
            on_texts = [no_encoder()]
    counts = Counter(finding.kind for finding in problems)
    summary = ", ".join(f"{number} × {kind}" for kind, number in counts.items()) or "nothing odd"
    text = ""
    if problems or format == "json":
        rows = [finding._asdict() for finding in problems]
        text = printed_rows(rows, format, tables=[_rows_for_people(problems)])
    return Output(
        text,
        messages=(f"{Source(annotations).name}: {size}: {summary}",),
        findings=tuple(on_texts),
        exit_code=int(options.strict and not counts.keys() <= _HARMLESS),
    )


def _text_findings(options: LintOptions, table: Annotations) -> tuple[int, list[LintFinding]]:
    """The number of different texts of a file, and those that have no word, mean no keyword, only
    exclude some, that no clip can answer and that are ambiguous; each text once.
    """
    mapper, _ = mapper_of(options, table.vocabulary)
    queries, wordless = find_text_queries(options.queries)
    texts = list(dict.fromkeys(query.text for query in queries))
    mapper.prepare(texts)
    mapped = {text: mapper.map_text(text) for text in texts}
    keywords = {text: meant.query_keywords for text, meant in mapped.items()}
    truth = judge(KeywordMasks.of_texts(table, keywords), table)
    n_relevant = dict(zip(truth.queries, np.diff(truth.offsets).tolist(), strict=True))
    problems: list[LintFinding] = []
    for text, meant in mapped.items():
        required, excluded = ([keyword.label for keyword in side] for side in keywords[text])
        if meant.ambiguous:
            message = "; ".join(in_doubt(*ambiguity) for ambiguity in meant.ambiguous)
            kind = "ambiguous"
        elif not required and not excluded:
            kind, message = "nothing mapped", "means no keyword: as a query it asks for nothing"
        elif not required:
            kind = "nothing required"
            message = f"only excludes {' and '.join(excluded)}: as a query it asks for nothing"
        elif not n_relevant[text]:
            without = f" without {' or '.join(excluded)}" if excluded else ""
            kind, message = "no relevant clip", f"no clip has {' and '.join(required)}{without}"
        else:
            continue
        problems.append(LintFinding(kind, "", text, 0, message))
    message = "the text has no word; write one, or leave the query out"
    return len(texts) + len(wordless), [
        *(LintFinding("no word", "", row, 0, message) for row in wordless),
        *sorted(problems, key=lambda finding: _OF_TEXTS.index(finding.kind)),
    ]


def _rows_for_people(problems: Sequence[LintFinding]) -> list[reporting.Row]:
    """The findings, with the unused labels in one line per group at the end."""
    unused: dict[str, list[str]] = {}
    rows: list[LintFinding] = []
    for finding in problems:
        if finding.kind == "never used":
            unused.setdefault(finding.group, []).append(finding.label)
        else:
            rows.append(finding)
    for group, labels in unused.items():
        message = f"{len(labels)} declared and on no clip: {first_of(labels, _SHOWN)}"
        rows.append(LintFinding("never used", group, "", 0, message))
    # A label is elsewhere the word for a measure.
    columns = ["keyword" if name == "label" else name for name in LintFinding._fields]
    return [dict(zip(columns, row, strict=True)) for row in rows]


def findings(annotations: Annotations) -> Iterator[LintFinding]:
    """The problems of annotations: unread columns and empty rows, then probable mistakes, then
    unused labels.
    """
    vocabulary = annotations.vocabulary
    for name in dict.fromkeys(chain.from_iterable(annotations.attributes.values())):
        yield LintFinding(
            "unknown column",
            "",
            name,
            0,
            "not read as keywords; name it (--keyword-groups) or declare it",
        )
    for clip in annotations.empty:
        yield LintFinding(
            "empty row", "", clip, 1, "carries no keyword: as a query it asks for nothing"
        )
    uses = dict(zip(annotations.keywords, annotations.uses.tolist(), strict=True))
    for entry in annotations.undeclared:
        declared = [label for group, label in vocabulary.entries if group == entry.group]
        near = difflib.get_close_matches(entry.label, declared, n=1, cutoff=0.75)
        hint = f"; {near[0]!r} is" if near else ""
        yield LintFinding("not declared", *entry, uses[entry], f"used and not declared{hint}")
    yield from _near_duplicates(annotations, uses)
    groups = grouped((fold(entry.label), entry) for entry in annotations.keywords)
    for entries in groups.values():
        for entry in entries if len(entries) > 1 else ():
            other_groups = ", ".join(keyword.group for keyword in entries if keyword != entry)
            yield LintFinding("two groups", *entry, uses[entry], f"also a label of {other_groups}")
    for alias in vocabulary.shadowing:
        meant = {f"{group}: {label}" for group, label in vocabulary.aliases[alias]}
        message = "that reads like a label of its own; the label wins"
        yield LintFinding(
            "shadowed", "", alias, 0, f"an alias of {', '.join(sorted(meant))} {message}"
        )
    for entry in annotations.keywords:
        if " ".join(fold(entry.label)) in _PLACEHOLDERS:
            yield LintFinding(
                "placeholder",
                *entry,
                uses[entry],
                "says that there is no keyword; leave the cell empty",
            )
    for finding in annotations.findings:
        if "not read as keywords" not in finding:
            yield LintFinding("read otherwise", "", "", 0, str(finding))
    for entry in annotations.keywords if annotations.schema is not None else ():
        if not uses[entry]:
            yield LintFinding("never used", *entry, 0, "declared, and no clip carries it")


def _near_duplicates(annotations: Annotations, uses: dict[Keyword, int]) -> Iterator[LintFinding]:
    suspects = {*(annotations.keywords if annotations.schema is None else annotations.undeclared)}
    for pair in combinations(annotations.keywords, 2):
        first, second = pair
        if (
            first.group == second.group
            and not suspects.isdisjoint(pair)
            and _is_near(fold(first.label), fold(second.label))
        ):
            rare, common = sorted(pair, key=lambda entry: (uses[entry], entry.label))
            clips = count_of(uses[common], "clip")
            message = f"is nearly {common.label!r} ({clips}); write one of them"
            yield LintFinding("near-duplicate", *rare, uses[rare], message)


def _is_near(first_words: tuple[str, ...], second_words: tuple[str, ...]) -> bool:
    if sorted(first_words) == sorted(second_words) or "".join(first_words) == "".join(second_words):
        return True
    return len(first_words) == len(second_words) and all(
        first == second
        or difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() >= _ALIKE
        for first, second in zip(first_words, second_words, strict=True)
    )
