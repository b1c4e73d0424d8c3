"""Embeddings of a reference and of candidates -> values: how many of the reference's neighbours each candidate finds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rankwell import io
from rankwell.conventions import CONVENTIONS, Convention
from rankwell.core.kernels.arrays import refuse_non_finite
from rankwell.core.kernels.similarity import metric_name
from rankwell.core.tables import Floats, Ints, sort_ids
from rankwell.core.tables.embeddings import Embeddings, align
from rankwell.core.tables.names import Place, name_places
from rankwell.core.tables.values import Unit, Values
from rankwell.core.views.judged import JudgedRankings
from rankwell.core.views.ranking_pairs import Gains, RankingPairs, chance_level
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.io.embeddings import read_column, read_embeddings, split_part
from rankwell.neighbours import TopK
from rankwell.stats import Intervals
from rankwell.stats.summaries import SummaryRow
from rankwell.store import Source
from rankwell.tasks.agreement.conventions import cuts_gold
from rankwell.tasks.agreement.measures.agreement_set import FIGURES, Wanted, bare_words, usual, wanted
from rankwell.tasks.agreement.measures.agreement_space import margin
from rankwell.tasks.agreement.neighbours import Model, Sample, Teacher
from rankwell.tasks.agreement.results import Agreement
from rankwell.tasks.agreement.similarity import Representation, hubness, linear_cka
from rankwell.tasks.agreement.vector_panel import VectorPanel, vector_panel

Progress = Callable[[str, int, int], None]

_MARGIN_DEPTH = 100
"""How many places of the reference's lists beyond the last one used are looked at for the margin."""
_PANEL_NUMBERS = 1 << 16
_ALIGNED_ITEMS = 10_000
"""Kernel alignment is of so many evenly spaced items at most: its bias is gone there, and its cost grows with the items."""


def agree(
    reference: Any,
    candidates: Any,
    measures: Sequence[str] | str | None = None,
    *,
    ids: Any = None,
    k: Sequence[int] | int = (1, 3, 5, 10),
    samples: int | Literal["all"] = 500,
    seed: int = 42,
    gold_depth: int | None = None,
    metric: str = "cosine",
    exclude: Any = None,
    convention: str = "rankwell",
    ceiling: bool = False,
    labels: Any = None,
    eps: float = 0.005,
    intervals: Intervals = "bootstrap",
    spectrum: bool | None = None,
    progress: Progress | None = None,
) -> Agreement:
    """How far the neighbours that candidates find are those of a reference, for a sample of items among all items.

    reference: whatever `read_embeddings` takes, or `NAME=PATH`. candidates: one such thing, a list of them, or a mapping
    name -> thing; rows belong together by id where both sides have ids, else by position. ids: names of the rows of whatever has
    none of its own. measures: their names, at every `k` where they name none; the usual set, or the convention's, where None.
    k: cut-offs. samples: how many items are asked about, drawn as `RandomState(seed).choice` draws them. gold_depth: how many
    first items of the reference are relevant; by default the largest k, or each cut-off where the convention says so.
    exclude: labels of the items, or a file or column of them; an item with the query's label is no neighbour.
    ceiling: also the reference's agreement with itself in float16. labels: judgments that judge the reference and the candidates.
    eps: the tolerance of similarity of EpsRecall and of the reference's margin. spectrum: the effective rank in the panel;
    None leaves it out without intervals, when time matters.
    Raises BadInput for vectors that are not finite, or zero under cosine, and tables that do not match; BadUsage for cut-offs
    that the items do not allow and for names that come twice; NothingToEvaluate where the labels know none of the queries.
    """
    rules, ks = _convention(convention), _cutoffs(k)
    lean, quick = cuts_gold(rules), intervals == "none"
    if not eps >= 0 or intervals not in get_args(Intervals):
        raise BadUsage(f"eps={eps!r}, intervals={intervals!r}: eps is 0 or more; intervals are bootstrap, t or none.")
    named = _name(reference, candidates)
    world = _World.read(named, ids, metric_name(metric))
    teacher, *students = world.models
    panel = _panel_of(world.models, spectrum=not quick if spectrum is None else spectrum)
    size = None if samples == "all" else samples
    sample = Sample.draw(teacher.items.names(), size, seed, _labels(exclude, teacher.items.n))
    most = _check_depth(max(ks), gold_depth, sample)
    texts = [measures] if isinstance(measures, str) else measures
    # A convention whose truth is a reference's list has words of its own for it; others have words for judgments only.
    texts = texts or (bare_words(rules.defaults) if lean else usual(ks, most, eps))
    asked = wanted(texts, ks, rules.words, gold_depth or (None if lean else max(ks)))
    # A source that prints no margin need not wait for one.
    deep = max([max(ks), *(each.gold_depth for each in asked)]) + (0 if lean and quick else _MARGIN_DEPTH)
    lists = Teacher(sample, teacher, max(ks), deep, _named(progress, teacher.name))
    found = _Found(lists, asked, ks, eps)
    for student in [*students, *([_in_half_precision(teacher)] if ceiling else [])]:
        found.add(student, figures=measures is None and not lean, progress=_named(progress, student.name))
    if not (lean and quick):
        found.add_reference(rows=measures is None and not lean)
    if labels is not None:
        words = bare_words(rules.defaults) if lean else ["nDCG", "P", "R", "AP", "RR"]
        found.judge(labels, wanted(words, ks, rules.words, None, JudgedRankings))
    chosen = {
        "k": ",".join(map(str, ks)),
        "gold_depth": gold_depth or ("k" if lean else max(ks)),
        "metric": metric,
        **({"rows": "matched by position"} if world.notes else {}),
        **({"eps": eps} if found.margins else {}),
    }
    return Agreement(
        reference=teacher.name,
        candidates=tuple(name for name in named if name != teacher.name),
        values=tuple(found.values),
        aggregates=tuple(found.figures),
        row_attributes=tuple(found.facts),
        rules=_rules(rules, found, lists, chosen),
        panel=panel,
        notes=(*rules.notes, *panel.warnings, *world.notes, *_sample_notes(sample, size), *found.notes),
        convention=rules,
        sample=sample,
        pairs=found.pairs,
        sources={name: _source(place) for name, place in named.items() if isinstance(place, (str, Path))},
        intervals=intervals,
        seed=seed,
        population_sd=rules.population_sd,
    )


def _convention(name: str) -> Convention:
    """The convention under which one model is compared with another. Raises BadUsage for one whose words are about judgments."""
    entry = CONVENTIONS[name]
    if name != "rankwell" and "agreement" not in entry.tasks:
        known = [each for each in CONVENTIONS if "agreement" in CONVENTIONS[each].tasks]
        raise BadUsage(f"the convention {name} judges runs; for agreement there are rankwell and {', '.join(known)}.")
    return entry


def _cutoffs(k: Sequence[int] | int) -> tuple[int, ...]:
    ks = (k,) if isinstance(k, int) else tuple(k)
    if not ks or not all(isinstance(each, int) and each >= 1 for each in ks):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BadUsage(f"k={ks!r}: cut-offs are whole numbers from 1, as 1,3,5,10.")
    return tuple(sorted(set(ks)))


def _check_depth(largest: int, gold_depth: int | None, sample: Sample) -> int:
    """How many neighbours an item has. Raises BadUsage for a cut-off or a gold depth that they do not reach, or below 1."""
    if gold_depth is not None and gold_depth < 1:
        raise BadUsage(f"a gold depth of {gold_depth}; one item or more is relevant.")
    most = int(sample.n_candidates.max())
    for what, value in (("k", largest), ("the gold depth", gold_depth or 0)):
        if value > most:
            raise BadUsage(
                f"{what} is {value}, but {sample.n_items} vectors leave {most} neighbours; take less, or more vectors."
            )
    return most


def _name(reference: Any, candidates: Any) -> dict[str, Any]:
    """The reference and then the candidates by name. Raises BadUsage for a name that comes twice, and without a candidate."""
    if isinstance(candidates, Mapping):
        given: dict[str, Any] = {str(name): place for name, place in candidates.items()}
    else:
        listed: list[Any] = list(candidates) if isinstance(candidates, (list, tuple)) else [candidates]
        given = {f"\0{number}": place for number, place in enumerate(listed, 1)}
    if not given:
        raise BadUsage("no candidate is given; name at least one after the reference.")
    places, things = list[Place](), list[Any]()
    for key, thing in [("\0", reference), *given.items()]:
        name = "" if key.startswith("\0") else key
        if isinstance(thing, (str, Path)):
            text, equals, rest = str(thing).partition("=")
            if equals and not name and not Path(str(thing)).exists():
                name, thing = text, rest
            path, part = split_part(thing)
            places.append(Place(name, Path(path), part))
        else:
            places.append(Place(name, None))
        things.append(thing)
    otherwise = ["reference", *(f"candidate{number}" if len(given) > 1 else "candidate" for number in range(1, len(given) + 1))]
    return dict(zip(name_places(places, otherwise), things, strict=True))


class _World(NamedTuple):
    """The models, their rows in the reference's order, the reference first."""

    models: list[Model]
    notes: list[str]

    @classmethod
    def read(cls, named: Mapping[str, Any], ids: Any, metric: str) -> "_World":
        """Reads every place, the first as the reference. ids: of the rows of whatever has none of its own."""
        tables: dict[str, Embeddings] = {}
        for name, place in named.items():
            # The panel looks at every number anyway.
            table = read_embeddings(place, check=False)
            if table.ids is None and ids is not None:
                table = read_embeddings(table if not isinstance(place, (str, Path)) else place, ids=ids, check=False)
            tables[name] = table
        teacher, *others = tables
        kinds = {table.ids is None for table in tables.values()}
        notes = ["only some of the embeddings have ids, so that rows are matched by position"] if len(kinds) > 1 else []
        models = [Model(teacher, tables[teacher], metric)]
        models += [Model(name, align(tables[teacher], tables[name], teacher, name), metric) for name in others]
        return cls(models, notes)


def _panel_of(models: Sequence[Model], *, spectrum: bool) -> VectorPanel:
    """What the vectors look like.

    Raises BadScore naming the first number that is not finite, BadInput naming a zero vector where it has no similarity.
    """
    # Blocks of half a megabyte as float64 are looked at twice as fast as large ones, for their memory is used again.
    block = max(16, _PANEL_NUMBERS // max(model.items.dimensions for model in models))
    panel = vector_panel({model.name: model.items for model in models}, spectrum=spectrum, block=block)
    for model, row in zip(models, panel.rows, strict=True):
        if row["nan"] or row["infinite"]:
            try:
                refuse_non_finite(model.items)
            except BadInput as error:
                raise type(error)(f"{model.name}: {error}") from error
        if row["zero"] and model.metric == "cosine":
            found = next(each for each in panel.warnings if each.startswith(f"{model.name}: ") and " zero, " in each)
            raise BadInput(f"{found[:-1]}; drop it, or take --metric dot or l2.")
    return panel


def _labels(exclude: Any, n: int) -> list[str | None] | None:
    """(items,) a label each, None for none. Raises BadInput where there are not as many as items."""
    if exclude is None:
        return None
    found = (
        read_column(exclude) if isinstance(exclude, (str, Path)) else [None if each is None else str(each) for each in exclude]
    )
    if len(found) != n:
        raise BadInput(f"{len(found)} labels to exclude by, for {n} vectors; there is one for each, in the reference's order.")
    return [label or None for label in found]


def _named(progress: Progress | None, name: str) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, total: progress(name, done, total)


def _in_half_precision(model: Model) -> Model:
    with np.errstate(over="ignore"):
        half = np.asarray(model.items.vectors, dtype=np.float16)
    if not np.isfinite(half).all():
        raise BadInput(f"{model.name}: float16 ends at 65504, which a number exceeds; scale the vectors, or leave out --ceiling.")
    return Model(f"{model.name} (float16)", Embeddings(model.items.ids, half), model.metric)


class _Found:
    """What has been measured so far, model by model."""

    def __init__(self, lists: Teacher, asked: Sequence[Wanted], ks: Sequence[int], eps: float) -> None:
        self._lists, self._asked, self._ks, self._eps = lists, asked, ks, eps
        self._tops: dict[str, TopK] = {lists.model.name: lists.top}
        self._space: Representation | None = None
        self._levels: dict[tuple[str, bytes], Floats] = {}
        self.values: list[Values] = []
        self.figures: list[dict[str, Any]] = []
        self.facts: list[dict[str, Any]] = []
        self.pairs: dict[str, RankingPairs] = {}
        self.definitions: dict[str, dict[str, str]] = {}
        self.notes: list[str] = []
        self.margins: dict[int, float | None] = {}

    def add(self, student: Model, *, figures: bool, progress: Callable[[int, int], None] | None) -> None:
        """Measures one candidate. figures: also of all its vectors."""
        # Measures of judged lists need no ranks beyond the lists.
        exact = any(each.measure.entry.view is RankingPairs for each in self._asked)
        pairs, self._tops[student.name] = self._lists.beside(student, exact=exact, progress=progress)
        self.pairs[student.name] = pairs
        views: dict[tuple[int, Gains], JudgedRankings] = {}
        for each in self._asked:
            depth = each.gold_depth, each.gains
            if each.measure.entry.view is RankingPairs:
                view: Any = pairs
            else:
                view = views[depth] if depth in views else views.setdefault(depth, pairs.judged(*depth))
            self._keep(student.name, each, each.measure(view), self._chance(each, pairs))
        if figures:
            self._add_figures(student)

    def _chance(self, each: Wanted, pairs: RankingPairs) -> Floats:
        """The chance level, which is the same for all candidates whose lists are as long."""
        key = each.exact, pairs.candidate.offsets.tobytes()
        if key not in self._levels:
            self._levels[key] = chance_level(each.measure, pairs, gold_depth=each.gold_depth, gains=each.gains)
        return self._levels[key]

    def add_reference(self, *, rows: bool) -> None:
        """The margin of the reference's lists, and rows of it and of their hubs."""
        pairs, name = next(iter(self.pairs.values())), self._lists.model.name
        self.margins = {k: _median(margin(pairs, k=k, eps=self._eps)) for k in self._ks}
        if rows:
            for each in wanted([f"Margin(eps={self._eps!r})@{k}" for k in self._ks], self._ks, {}, None):
                self._keep(name, each, each.measure(pairs), np.full(len(pairs.queries), np.nan))
            self._add_hubs(name)

    def judge(self, labels: Any, asked: Sequence[Wanted]) -> None:
        """Measures the reference and every candidate against judgments of the queries that these know."""
        found = io.find_judgments(labels)
        flat = found.table.flat
        known = {query: row for row, query in enumerate(flat.queries)}
        names = self._lists.sample.names
        rows = [known.get(name, -1) for name in names]
        there = np.flatnonzero(np.array(rows) >= 0)
        if not len(there):
            what = f"the labels judge {len(known)} queries, none of them among the {len(names)} sampled items"
            raise NothingToEvaluate(f"{what} (as {names[0]!r}); their queries are ids of the embeddings.")
        if len(there) < len(names):
            self.notes.append(f"{len(there)} of {len(names)} sampled queries have labels; measures against labels count these")
        lacking = sort_ids(set(flat.items) - set(self._lists.sample.items))
        if lacking:
            what = f"{len(lacking)} judged items are not among the embeddings, first {lacking[0]!r}"
            self.notes.append(f"{what}; they count as relevant items that nothing retrieves")
        flat = flat.with_junk({names[place]: [names[place]] for place in there.tolist()})
        taken = np.array(rows, dtype=np.int64)[there]
        for run, top in self._tops.items():
            short = replace(top, positions=top.positions[:, : max(self._ks)], scores=top.scores[:, : max(self._ks)])
            hits = io.find_hits(short.ranking(), flat, ties="input").hits
            view = JudgedRankings.join(flat, hits).resolve("input").take(taken)
            for each in asked:
                values = np.full(len(names), np.nan)
                values[there] = each.measure(view)
                head, at, cut = each.exact.partition("@")
                exact = (head.replace("(", "(truth='labels',", 1) if "(" in head else f"{head}(truth='labels')") + at + cut
                self._keep(run, each._replace(exact=exact, label=f"{each.label} (labels)"), values, np.full(len(names), np.nan))

    def _keep(self, run: str, each: Wanted, values: Floats, chance: Floats) -> None:
        entry = each.measure.entry
        names = self._lists.sample.names
        self.values.append(Values(run, each.exact, each.label, entry.unit, entry.summary, names, values))
        self.facts.append({"k": each.k, "chance": None if np.isnan(chance).all() else float(np.nanmean(chance))})
        self.definitions[each.exact] = entry.definition

    def _add_figures(self, student: Model) -> None:
        rows = _spread(self._lists.model.items.n)
        self._space = self._space or Representation(self._lists.model.items.vectors[rows])
        cka = linear_cka(self._space, Representation(student.items.vectors[rows]))
        self._figure(student.name, "CKA", cka.linear, cka.items, None, None)
        self._figure(student.name, "CKA(kind='debiased')", cka.debiased, cka.items, None, 0.0)
        self._add_hubs(student.name)

    def _add_hubs(self, name: str) -> None:
        k, n = max(self._ks), self._lists.sample.n_items
        hubs = hubness(self._tops[name].positions, n, k=k)
        queries = len(self._lists.sample.rows)
        self._figure(name, f"Hubness@{k}", hubs.skewness, queries, k, None)
        self._figure(name, f"Hubness(kind='largest')@{k}", hubs.largest, queries, k, None, "count")
        self._figure(name, f"Hubness(kind='never')@{k}", hubs.never, queries, k, None, "share")

    def _figure(
        self, run: str, name: str, value: float, n: int, k: int | None, chance: float | None, unit: Unit = "score"
    ) -> None:
        shown = None if np.isnan(value) else float(value)
        row = SummaryRow.of(run, name, name, shown, None, None, None, n, unit)
        self.figures.append(row | {"k": k, "chance": chance})
        definition, source = FIGURES[name.partition("@")[0]]
        better = "higher" if name.startswith("CKA") else "lower"
        self.definitions[name] = {"definition": definition, "better": better, "summary": "mean", "source": source}


def _spread(n: int) -> slice | Ints:
    """All of n rows, or as many evenly spaced ones as are looked at."""
    return slice(None) if n <= _ALIGNED_ITEMS else np.arange(_ALIGNED_ITEMS, dtype=np.int64) * n // _ALIGNED_ITEMS


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _source(place: str | Path) -> Source:
    text, equals, rest = str(place).partition("=")
    path = Path(split_part(rest if equals and text and not Path(str(place)).exists() else place)[0])
    return Source(path / "vectors.npy" if path.is_dir() else path)


def _sample_notes(sample: Sample, size: int | None) -> list[str]:
    if size is None or size <= sample.n_items:
        return []
    return [f"{size} samples were asked for and there are {sample.n_items} items: all are queries"]


def _rules(rules: Convention, found: _Found, lists: Teacher, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Every choice that decided a number."""
    sample = lists.sample
    least, most = int(sample.n_candidates.min()), int(sample.n_candidates.max())
    margins = " ".join(f"{k}:{'–' if value is None else f'{value:g}'}" for k, value in found.margins.items())
    return {
        "convention": rules.name,
        "reference": lists.model.name,
        "queries": f"{len(sample.rows)} of {sample.n_items}",
        "candidates": most if least == most else f"{least} to {most}",
        "sampling": "all" if len(sample.rows) == sample.n_items else "RandomState.choice",
        "exclude": "self" if sample.labels is None else "self and same label",
        **chosen,
        **({"cka_items": min(sample.n_items, _ALIGNED_ITEMS)} if "CKA" in found.definitions else {}),
        "ties": "position",
        **({"margin": margins} if margins else {}),
        "sd": "population" if rules.population_sd else "sample",
        "measures": found.definitions,
    }
