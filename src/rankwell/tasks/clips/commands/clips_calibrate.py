"""Find the threshold that maps texts to keywords best, from labelled queries: precision and recall
at each threshold.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankwell import __version__, report
from rankwell.core.tables import figure
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.report.charts import write_charts
from rankwell.report.line_charts import parameter_chart
from rankwell.report.options import FileOption, FormatOption, Output, Progress
from rankwell.store import Source, write_text
from rankwell.tasks.clips.annotations import Annotations, Keyword
from rankwell.tasks.clips.formats import TextQuery, read_annotations, read_text_queries
from rankwell.tasks.clips.mapping import KeywordMapper
from rankwell.tasks.clips.options import CalibrationOptions
from rankwell.tasks.clips.phrases import load_keybert

_LEAST_STEP = 0.001


class MappingTally(NamedTuple):
    """Numbers of keywords over all texts, and of texts. meant: the labels. right: both mapped and
    meant.
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


def calibrate(
    queries: str,
    /,
    *,
    annotations: str,
    encoder: str,
    options: CalibrationOptions,
    format: FormatOption = "table",
    output: FileOption = None,
    progress: Progress = None,
) -> Output:
    """Find the threshold that maps texts to keywords best, from labelled queries: precision and
    recall at each threshold.

    Precision, recall and F1 count keywords over all queries. The best threshold is chosen without
    the queries that are held back.

    Parameters
    ----------
    queries
        Table of texts with the keywords that they mean, columns text and keywords; an empty cell
        means no keyword.
    annotations
        Table of clips with their keywords; without --schema the labels that it uses are the
        vocabulary.
    encoder
        Folder or name of a model of sentence-transformers.
    output
        Folder for thresholds.csv, thresholds.json and the chart thresholds.png and .svg.
    """
    thresholds = _thresholds(options)
    table = read_annotations(annotations, schema=options.schema)
    meant = _meant(read_text_queries(queries), table, Source(queries).name)
    loaded = load_keybert(encoder, device=options.device)
    mapper = KeywordMapper(table.vocabulary, encode=loaded, strategy=options.strategy)
    mapper.prepare(meant)
    for done, text in enumerate(meant, 1):
        mapper.map_text(text)
        if progress is not None:
            progress("mapping", done, len(meant))
    chosen, held = hold_back(list(meant), options.held_back)
    parts = {"tuning" if held else "all": chosen, **({"held back": held} if held else {})}
    found = {
        part: {
            threshold: tally(mapper, {text: meant[text] for text in texts}, threshold=threshold)
            for threshold in thresholds
        }
        for part, texts in parts.items()
    }
    best = best_threshold(next(iter(found.values())))
    rows: list[dict[str, Any]] = []
    for part, tallies in found.items():
        for threshold, each in tallies.items():
            shares = {"precision": each.precision, "recall": each.recall, "f1": each.f1}
            counts = {
                "right": each.right,
                "mapped": each.mapped,
                "meant": each.meant,
                "n": each.texts,
            }
            rows.append({"queries": part, "threshold": threshold, **shares, **counts})
    f1 = ", ".join(f"{part} {figure(tallies[best].f1, 'share')}" for part, tallies in found.items())
    notes = [
        *table.notes,
        f"best threshold: {best:g} (F1: {f1}); the default is {mapper.threshold:g}",
    ]
    rules = {
        "strategy": options.strategy,
        "vocabulary": "used" if options.schema is None else "declared",
        **loaded.rules,
    }
    rules |= {"best_threshold": best, "default_threshold": mapper.threshold, "version": __version__}
    document = report.Document(
        rows, None, rules, notes, summary=False, terminal=report.terminal_of(sys.stdout)
    )
    wrote: list[str] = []
    if output is not None:
        inputs = {"queries": queries, "annotations": annotations, "schema": options.schema}
        _write(
            output,
            document,
            {name: Source(place).digest() for name, place in inputs.items() if place is not None},
        )
        wrote.append(report.Aside(f"wrote {output}/"))
    return Output(
        text=report.OUTPUTS[format](document), notes=(*(notes if format != "json" else ()), *wrote)
    )


def _thresholds(options: CalibrationOptions) -> list[float]:
    low, high, step, held_back = options.low, options.high, options.step, options.held_back
    if held_back < 0 or held_back == 1:
        raise BadUsage(
            f"--held-back {held_back}; expected 2 or more to hold back one query of so many, "
            "or 0 for none."
        )
    if not -1 <= low <= high <= 1:
        raise BadUsage(
            f"--low {low} --high {high}; expected numbers from -1 to 1, the lower one first."
        )
    if not step >= _LEAST_STEP:
        raise BadUsage(f"--step {step}; expected {_LEAST_STEP} or more.")
    return [round(low + place * step, 6) for place in range(int((high - low) / step + 1e-9) + 1)]


def _meant(
    queries: Sequence[TextQuery], table: Annotations, place: str
) -> dict[str, tuple[Keyword, ...]]:
    """Text -> the keywords that it means. Raises BadInput for a text that is listed twice, and
    where no query is labelled.
    """
    found: dict[str, tuple[Keyword, ...]] = {}
    for query in queries:
        if query.text in found:
            raise BadInput(
                f"{place}: the text {query.text!r} is listed twice; label each text once."
            )
        found[query.text] = tuple(
            entry for text in query.keywords or () for entry in table.find(text)
        )
    if all(query.keywords is None for query in queries):
        raise BadInput(f"{place}: no query has labels; expected a column keywords.")
    return found


def _write(folder: Path, document: report.Document, digests: dict[str, str]) -> None:
    whole = report.Document(
        document.rows, None, {**document.rules, "inputs": digests}, document.notes, summary=False
    )
    write_text(folder / "thresholds.csv", report.OUTPUTS["csv"](whole))
    write_text(folder / "thresholds.json", report.OUTPUTS["json"](whole))
    lines = [
        {
            "system": row["queries"],
            "series": row["queries"],
            "value": row["threshold"],
            "label": label,
            "mean": row[name],
        }
        for name, label in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))
        for row in document.rows
    ]
    title = f"Keywords found in texts, by threshold ({document.rules['strategy']})"
    write_charts(
        folder, {"thresholds": parameter_chart(lines, "threshold", title=title, point="threshold")}
    )


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
    right = mapped = relevant = 0
    for text, keywords in meant.items():
        found, truth = set(mapper.map_text(text, threshold=threshold).keywords), set(keywords)
        right, mapped, relevant = (
            right + len(found & truth),
            mapped + len(found),
            relevant + len(truth),
        )
    return MappingTally(right, mapped, relevant, len(meant))


def best_threshold(tallies: Mapping[float, MappingTally]) -> float:
    """The threshold with the highest micro F1; the middle one of several. Raises NothingToEvaluate
    where there is none.
    """
    if not any(each.meant for each in tallies.values()):
        raise NothingToEvaluate(
            "no text means a keyword, so that no threshold is best; label some texts with "
            "what they mean."
        )
    scored = {
        threshold: each.f1 for threshold, each in sorted(tallies.items()) if each.f1 is not None
    }
    highest = max(scored.values())
    if not highest:
        raise NothingToEvaluate(
            "no keyword that a text means is mapped at any threshold, so that none is best."
        )
    best = [threshold for threshold, f1 in scored.items() if f1 == highest]
    return best[(len(best) - 1) // 2]


def hold_back(texts: Sequence[str], every: int) -> tuple[list[str], list[str]]:
    """The texts for tuning and the texts held back: the last of every `every` texts, none for 0."""
    held = set(texts[every - 1 :: every]) if every else set[str]()
    return [text for text in texts if text not in held], [text for text in texts if text in held]
