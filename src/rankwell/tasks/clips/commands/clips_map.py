"""Show which keywords a text means: by name, by rule, then by similarity, with negated, ambiguous
and unmapped words.
"""

import sys
from typing import Any

from rankwell import __version__, report
from rankwell.errors import BadUsage
from rankwell.evaluation.judged import refuse_one_stream
from rankwell.report.options import FormatOption, Output
from rankwell.store import STDIN
from rankwell.tasks.clips.formats import read_annotations, read_text_queries
from rankwell.tasks.clips.mapping import WITHOUT_ENCODER, KeywordMapper
from rankwell.tasks.clips.options import MappingOptions, Names, names
from rankwell.tasks.clips.phrases import load_keybert


def map(  # noqa: A001
    *texts: str,
    annotations: str,
    schema: str | None = None,
    groups: Names = None,
    mapping: MappingOptions,
    device: str | None = None,
    why: bool = False,
    format: FormatOption = "table",
) -> Output:
    """Show which keywords a text means: by name, by rule, then by similarity, with negated,
    ambiguous and unmapped words.

    The score of a name and of a rule is 1. By similarity it is 0.65 times the cosine of span and
    label, and 0.35 times the mean similarity of their single words with the best counterparts;
    under algorithm1 it is the cosine.

    Parameters
    ----------
    texts
        Text queries; quote each one. `-` reads them from standard input: a text per line, or a
        table with text.
    annotations
        Table of clips with their keywords; without --schema the labels that it uses are the
        vocabulary.
    schema
        Declared labels per group: JSON {group: [label, …]}.
    groups
        Groups of keywords that texts may mean, separated by commas, such as "object type,actor
        behavior"; all by default.
    device
        Device of the model, such as cpu or cuda; by default the choice of the model's library.
    why
        Print for each keyword the reason: the name, the words of the concept, the rule, or the
        similarity. JSON always has it.
    """
    if not texts:
        raise BadUsage("name at least one text: rankwell clips map TEXT... --annotations FILE")
    if mapping.encoder is None and mapping.keyword_threshold is not None:
        raise BadUsage("--keyword-threshold requires --encoder, which finds similar words.")
    refuse_one_stream([annotations, schema, *texts])
    listed = [
        words
        for text in texts
        for words in ([each.text for each in read_text_queries(text)] if text in STDIN else [text])
    ]
    queries = list(dict.fromkeys(each.text for each in read_text_queries(listed)))
    chosen = names(groups, "--groups")
    table = read_annotations(annotations, schema=schema, groups=chosen)
    vocabulary = table.vocabulary.of_groups({table.find_group(group) for group in chosen})
    notes = [*table.notes]
    if table.undeclared:
        used = ", ".join(f"{label} ({group})" for group, label in table.undeclared)
        notes.append(f"used and not declared, so that no text maps to it: {used}")
    if vocabulary.shadowing:
        notes.append(
            f"aliases that read like a label, which wins: {', '.join(vocabulary.shadowing)}"
        )
    loaded = None if mapping.encoder is None else load_keybert(mapping.encoder, device=device)
    strategy, threshold = mapping.strategy or "cover", mapping.keyword_threshold
    mapper = KeywordMapper(vocabulary, encode=loaded, strategy=strategy, threshold=threshold)
    mapper.prepare(queries)
    found = [mapper.map_text(text) for text in queries]
    rows: list[dict[str, Any]] = []
    for each in found:
        for role, side in (("required", each.mapped), ("excluded", each.excluded)):
            for span, (group, keyword), score, runner_up, margin, stage, _, _, reason in side:
                cells: dict[str, Any] = {
                    "text": each.text,
                    "span": span,
                    "role": role,
                    "group": group,
                    "keyword": keyword,
                }
                cells |= {"score": score, "runner_up": runner_up, "margin": margin, "stage": stage}
                rows.append({**cells, "why": reason} if why or format == "json" else cells)
    notes += [note for each in found for note in each.notes]
    if loaded is None:
        notes.append(WITHOUT_ENCODER)
    rules = {
        **mapper.describe(),
        "vocabulary": "used" if schema is None else "declared",
        **(loaded.rules if loaded is not None else {}),
        "version": __version__,
    }
    if not rows:
        notes.append("no keyword is mapped")
    document = report.Document(
        rows, None, rules, notes, summary=False, terminal=report.terminal_of(sys.stdout)
    )
    text = report.OUTPUTS[format](document) if rows or format == "json" else ""
    return Output(text=text, notes=tuple(notes if format != "json" else ()))
