"""The threshold that maps texts to keywords best: precision and recall at each threshold."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

from rankwell import __version__, reporting
from rankwell.data.tables import format_value
from rankwell.errors import BadInput, NothingToEvaluate
from rankwell.reporting.charts import write_charts
from rankwell.reporting.line_charts import parameter_chart
from rankwell.reporting.options import Output, Progress
from rankwell.store import Source, write_text
from rankwell.task import printed_rows
from rankwell.tasks.keywords.annotations import Annotations, Keyword, Keywords
from rankwell.tasks.keywords.formats import TextQuery, read_annotations, read_text_queries
from rankwell.tasks.keywords.mapping import KeywordMapper
from rankwell.tasks.keywords.options import CalibrationOptions
from rankwell.tasks.keywords.phrases import load_keybert


class MappingTally(NamedTuple):
    """Counts of keywords over all texts.

    right: number of keywords that are both mapped and meant.
    mapped: number of keywords that the mapper finds.
    meant: number of keywords that the texts are labelled with.
    texts: number of labelled texts.
    """

    right: int
    mapped: int
    meant: int
    texts: int

    @property
    def precision(self) -> float | None:
        """Share of the mapped keywords that are meant; None where nothing is mapped."""
        return self.right / self.mapped if self.mapped else None

    @property
    def recall(self) -> float | None:
        """Share of the meant keywords that are mapped; None where nothing is meant."""
        return self.right / self.meant if self.meant else None

    @property
    def f1(self) -> float | None:
        """Micro F1, 2 right / (mapped + meant); None where nothing is mapped or meant."""
        return 2 * self.right / (self.mapped + self.meant) if self.mapped + self.meant else None

    def row(self) -> dict[str, Any]:
        """The shares, then the numbers."""
        *counts, texts = self
        shares = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**shares, **dict(zip(self._fields, counts, strict=False)), "n": texts}


def print_calibration(
    queries: str,
    *,
    options: CalibrationOptions,
    format: reporting.Format = "table",
    output: Path | None = None,
    progress: Progress = None,
) -> Output:
    """Precision, recall and F1 at each threshold, and the best one."""
    thresholds = options.tried
    table = read_annotations(options.annotations, schema=options.schema)
    meant = _meant(read_text_queries(queries), table, Source(queries).name)
    encoder = load_keybert(options.encoder, device=options.device)
    mapper = KeywordMapper(table.vocabulary, encode=encoder, strategy=options.strategy)
    mapper.prepare(meant)
    for done, text in enumerate(meant, 1):
        mapper.map_text(text)
        if progress is not None:
            progress("mapping", done, len(meant))
    tuning, held = hold_back(list(meant))
    parts = {"tuning": tuning, "held back": held} if held else {"all": tuning}
    tallies = {
        part: {
            threshold: tally(mapper, {text: meant[text] for text in texts}, threshold=threshold)
            for threshold in thresholds
        }
        for part, texts in parts.items()
    }
    best = best_threshold(next(iter(tallies.values())))
    rows = [
        {"queries": part, "threshold": threshold, **counts.row()}
        for part, of_part in tallies.items()
        for threshold, counts in of_part.items()
    ]
    f1 = ", ".join(
        f"{part} {format_value(of_part[best].f1, 'share')}" for part, of_part in tallies.items()
    )
    rules: dict[str, Any] = {
        "strategy": options.strategy,
        "vocabulary": "used" if options.schema is None else "declared",
        **encoder.rules,
        "best_threshold": best,
        "default_threshold": mapper.threshold,
        "version": __version__,
    }
    answer = f"best threshold: {best:g} (F1: {f1}); the default is {mapper.threshold:g}"
    printed = [] if format == "json" else [*table.findings, answer]
    if output is not None:
        inputs = {"queries": queries, "annotations": options.annotations, "schema": options.schema}
        digests = {name: Source(file).digest() for name, file in inputs.items() if file}
        for suffix in ("csv", "json"):
            text = printed_rows(
                rows, suffix, rules={**rules, "inputs": digests}, findings=table.findings
            )
            write_text(output / f"thresholds.{suffix}", text)
        write_charts(output, {"thresholds": _chart(rows, options.strategy)})
        printed.append(reporting.StatusNote(f"wrote {output}/"))
    return Output.of(printed_rows(rows, format, rules=rules, findings=table.findings), printed)


def _meant(
    queries: Sequence[TextQuery], table: Annotations, source_name: str
) -> dict[str, Keywords]:
    """Text -> the keywords that it means. Raises BadInput for a text that is listed twice, and
    where no query is labelled.
    """
    keywords_of: dict[str, Keywords] = {}
    for query in queries:
        if query.text in keywords_of:
            raise BadInput(
                f"{source_name}: the text {query.text!r} is listed twice; label each text once."
            )
        keywords_of[query.text] = tuple(
            entry for text in query.keywords or () for entry in table.find(text)
        )
    if all(query.keywords is None for query in queries):
        raise BadInput(f"{source_name}: no query has labels; expected a column keywords.")
    return keywords_of


def _chart(rows: Sequence[reporting.Row], strategy: str) -> dict[str, Any]:
    lines = [
        {
            "system": row["queries"],
            "series": row["queries"],
            "value": row["threshold"],
            "label": label,
            "mean": row[label.lower()],
        }
        for label in ("Precision", "Recall", "F1")
        for row in rows
    ]
    title = f"Keywords found in texts, by threshold ({strategy})"
    return parameter_chart(lines, "threshold", title=title, point="threshold")


def tally(
    mapper: KeywordMapper, meant: Mapping[str, Iterable[Keyword]], *, threshold: float | None = None
) -> MappingTally:
    """Counts the keywords that a mapper finds correctly in labelled texts. Raises NothingToEvaluate
    without a text.
    """
    if not meant:
        raise NothingToEvaluate(
            "no text is labelled with keywords; label some texts with what they mean."
        )
    n_right = n_mapped = n_meant = 0
    for text, keywords in meant.items():
        mapped, truth = {*mapper.map_text(text, threshold=threshold).keywords}, {*keywords}
        n_right += len(mapped & truth)
        n_mapped += len(mapped)
        n_meant += len(truth)
    return MappingTally(n_right, n_mapped, n_meant, len(meant))


def best_threshold(tallies: Mapping[float, MappingTally]) -> float:
    """The threshold with the highest micro F1; the middle one of several. Raises NothingToEvaluate
    where there is none.
    """
    if not any(counts.meant for counts in tallies.values()):
        raise NothingToEvaluate(
            "no text means a keyword, so that no threshold is best; label some texts with "
            "what they mean."
        )
    highest = max(counts.f1 or 0.0 for counts in tallies.values())
    if not highest:
        raise NothingToEvaluate(
            "no keyword that a text means is mapped at any threshold, so that none is best."
        )
    return median_low(threshold for threshold, counts in tallies.items() if counts.f1 == highest)


def hold_back(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts for tuning, and every third text, which is held back to test the threshold."""
    tuning = [text for number, text in enumerate(texts) if number % 3 != 2]
    return tuning, list(texts[2::3])
