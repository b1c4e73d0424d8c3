"""A reference and candidates -> values: how many of the reference's neighbours each candidate
finds, or to what extent runs list what a reference run lists.
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

import numpy as np

from rankwell import __version__
from rankwell.conventions import (
    CONVENTIONS,
    Convention,
    LabelledMeasure,
    check_views,
    find_convention,
)
from rankwell.data.columns import refuse_unused_columns
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import (
    judged_items_missing,
    no_t_interval,
    queries_missing,
    queries_unknown,
)
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import MAGIC
from rankwell.data.options import PartOutcome, Vectors, cutoffs, own_arithmetic, takes_options
from rankwell.data.rankings import Ranking
from rankwell.data.registry import FIGURES, Measure, measure_names, parse_measure
from rankwell.data.tables import Floats, Unit, exact_mean, positions_by_id, sort_ids
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, UnknownName, flag
from rankwell.evaluation.results import ResultsBuilder
from rankwell.io import formats
from rankwell.io.formats import scored
from rankwell.reporting import Row, Rules
from rankwell.reporting.options import Progress
from rankwell.results import Results
from rankwell.runtime.parts.tables import ObjectEmbeddings
from rankwell.runtime.parts.vectors import rows_of
from rankwell.stats import MIN_QUERIES, SummaryRow
from rankwell.stats.paired_bootstrap import relative_changes
from rankwell.store import Head, Source, exists, remote_url, sources_of
from rankwell.task import Presented
from rankwell.tasks.embeddings.conventions import AgreementConvention
from rankwell.tasks.embeddings.findings import change_without_interval
from rankwell.tasks.embeddings.measures.agreement_space import margin
from rankwell.tasks.embeddings.options import EmbeddingOptions
from rankwell.tasks.embeddings.printing import embeddings_answer, list_columns, query_columns, show
from rankwell.tasks.embeddings.ranking_pairs import Gains, RankingPairs, chance_level, ranking_pairs
from rankwell.tasks.embeddings.vectors import (
    Model,
    NeighbourLists,
    Representation,
    Sample,
    VectorPanel,
    check_vectors,
    hubness,
    linear_cka,
    named_models,
    read_models,
)
from rankwell.vectors.neighbours import TopK

if TYPE_CHECKING:
    from rankwell.tasks.embeddings.task import EmbeddingCommandOptions

_GAINS = re.compile(r"gains=(['\"]?)([\w-]+)\1,?")
_USUAL = (
    "Overlap",
    "Jaccard",
    "AO",
    "nDCG",
    "nDCG(gains='reciprocal-rank')",
    "nDCG(gains='similarity')",
    "AP",
    "RR",
)
# Below two items, or half of the points beyond k, these are undefined for all queries.
_NEED_TWO = ("TauAP", "Spearman", "SpearmanUnion")
_NEED_HALF = ("Trustworthiness", "Continuity")
_MARGIN_DEPTH = 100
"""Depth of the reference's lists, for the margin, beyond the last place that a measure reads."""
_ALIGNED_ITEMS = 10_000
"""Kernel alignment is of so many evenly spaced items at most: its bias is gone there, and its cost
grows with the items.
"""
_EPS = 0.005
"""The tolerance of similarity of the reference's margin, and of EpsRecall among all measures."""
_OF_VECTORS = (
    "samples",
    "metric",
    "item_ids",
    "exclude_group",
    "qrels",
    "qrels_columns",
    "ceiling",
    "eps",
)
"""Options that runs have no use for."""
_FURTHER_FILES = ("item_ids", "exclude_group", "qrels")
ListOfIds = Sequence[Hashable] | Mapping[Any, float]  # the keys of a Mapping are invariant


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AgreementResults(Results):
    """Results of models compared with a reference.

    reference: name of the reference.
    candidates: names of the candidates.
    panel: figures of each model's vectors.
    convention: the convention in force.
    sample: the items that are queries.
    pairs: candidate -> its lists beside those of the reference.
    """

    reference: str
    candidates: tuple[str, ...]
    panel: VectorPanel
    convention: Convention
    sample: Sample
    pairs: Mapping[str, RankingPairs]

    @property
    def cuts_gold(self) -> bool:
        """Whether the relevant items are the reference's top items down to the cut-off."""
        return cuts_gold(self.convention)

    @property
    def changes(self) -> Sequence[Row]:
        """The relative differences of the second candidate and later ones from the first."""
        return self.tables["changes"]


@takes_options(EmbeddingOptions, "measures")
def evaluate_embeddings(
    reference: Vectors | Ranking,
    candidates: Vectors | Ranking,
    *,
    options: EmbeddingOptions,
    spectrum: bool | None = None,
    details: bool = False,
    progress: Progress = None,
) -> AgreementResults:
    """Measures how well embedding models find the neighbours that a reference model finds.

    A sample of the items are queries, and all others are searched. Runs are compared list by list,
    at every query of the reference. Rows are matched by id if both sides have ids, otherwise by
    position. Neighbours can be searched in parts, with the same result.
    Returns the agreement of each candidate, with both lists of every query in `pairs`, and the
    relative changes against the first candidate in `changes`.
    Raises BadInput for vectors that are zero under cosine, and tables that do not match, BadScore
    for vectors that are not finite, BadUsage for cut-offs that the items do not allow, and for
    names that are used twice, UnknownName for a measure or convention that does not exist,
    NothingToEvaluate where the labels judge none of the queries.

    Parameters
    ----------
    reference
        Vectors of the reference: a path, `NAME=PATH`, an array (n, d), Embeddings, or a mapping id
        -> vector. Or a run: a file, a mapping query -> item -> score or query -> list of ids, or a
        Ranking.
    candidates
        Vectors of one model, as a path, an array or Embeddings; of several, as a list of these, or
        a mapping name -> vectors. Or runs, as a mapping name -> run.
    item_ids
        Ids of the items, for embeddings without ids of their own: a list, an array, or a file or
        column. [default: rows are matched by position]
    exclude_group
        Labels, one per item: a list, an array, or a file or column. An item with the query's label
        is not a neighbour. [default: none]
    qrels
        Judgments whose query and item ids are those of the embeddings, in any form that
        `read_judgments` takes, such as a mapping query -> item -> grade; the reference is evaluated
        against them as well as the candidates.
    spectrum
        Compute the effective rank of the vectors. By default it is left out without intervals, when
        time matters.
    details
        Keep the lists and the queries for a folder of results.

    >>> import numpy as np
    >>> import rankwell as rw
    >>> reference = np.random.default_rng(0).normal(size=(50, 8))
    >>> result = rw.evaluate_embeddings(reference, {"half": reference[:, :4]}, k=5)
    >>> round(result["Overlap@5"], 2)
    0.41
    """
    return agreement_results(
        reference, candidates, options, spectrum=spectrum, details=details, progress=progress
    ).finished()


def agreement_results(
    reference: Any,
    candidates: Any,
    options: EmbeddingOptions,
    *,
    spectrum: bool | None = None,
    details: bool,
    progress: Progress,
) -> PartOutcome:
    """The results of `embeddings`, or what to show where its parts are not all computed."""
    rules, ks = convention_of(options), cutoffs(options.k)
    places = named_models(reference, candidates)
    if is_run(next(iter(places.values()))):
        if options.is_used:
            raise BadUsage(
                "parts need embeddings; runs are compared in one piece: leave "
                f"{flag('--executor')} out."
            )
        return PartOutcome(_results_of_runs(places, options, rules, ks))
    if options.columns is not None:
        refuse_unused_columns(options.columns, "run", "a run")
    if options.qrels is None and options.qrels_columns is not None:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--qrels"))
    models, findings = read_models(places, options)
    quick = options.intervals == "none"
    spectrum = not quick if spectrum is None else spectrum
    # The panel needs all vectors; those of objects are read once there is a result.
    is_late = options.dry_run or (
        not options.ceiling
        and any(isinstance(model.embeddings, ObjectEmbeddings) for model in models)
    )
    panel = VectorPanel([], ()) if is_late else check_vectors(models, spectrum=spectrum)
    sample = Sample.draw(models[0].embeddings.names(), options, sized=options.dry_run)
    default_names = usual_measures(options, ks, sample)
    plans = requested_measures(options, rules, ks, default_names)
    deepest = max(ks)
    # A source that prints no margin need not wait for one.
    with_margin = not (cuts_gold(rules) and quick)
    depth = max(deepest, *(plan.gold_depth for plan in plans)) + _MARGIN_DEPTH * with_margin
    if options.ceiling and not options.dry_run:
        models.append(models[0].in_half_precision())
    lists = NeighbourLists(
        sample,
        models,
        min(depth, sample.most_candidates),
        deepest,
        # Measures of judged lists need no ranks beyond the lists.
        exact=any(plan.measure.entry.view is RankingPairs for plan in plans),
        progress=progress,
    )
    if options.is_used:
        outcome = lists.find_in_parts(places, options)
        if outcome.result is None:
            return outcome
        panel = check_vectors(models, spectrum=spectrum) if is_late else panel
    matching = {"rows": "matched by position"} if findings else {}
    agreement = _VectorAgreement(places, options, rules, plans, ks, lists)
    for model in models[1:]:
        agreement.add_model(model)
    if with_margin:
        agreement.add_reference()
    if options.qrels is not None:
        agreement.judge(options.qrels)
    return PartOutcome(
        agreement.results(
            rules=agreement.rules(matching, panel),
            findings=[*panel.findings, *findings],
            aggregates=tuple(agreement.aggregates),
            details=list_columns(agreement.pairs, sample.item_names, deepest) if details else None,
            queries=agreement.query_columns() if details else None,
            panel=panel,
            sample=sample,
            check=lambda result: (
                [no_t_interval("relative changes")]
                if options.intervals == "t" and result.changes
                else []
            ),
        )
    )


def is_run(data: Any) -> bool:
    """Whether a place or an object holds a run, and not vectors."""
    if isinstance(data, Mapping):
        first: Any = next(iter(data.values()), None)
        inner: Any = first[0] if isinstance(first, (list, tuple)) and first else None
        return isinstance(first, Mapping) or isinstance(inner, (str, list, tuple))
    if not isinstance(data, (str, Path)):
        return isinstance(data, Ranking)
    if not exists(data) or Path(data).is_dir():
        return False
    if (url := remote_url(data)) is not None:
        with suppress(BadInput, BadUsage):
            rows_of(url)
            return False
    head = Head.of(Source(data))
    if head.raw.startswith(MAGIC) or b"\0" in head.raw[:8]:
        return False
    run, vectors = (
        max((sure for sure, _ in scored(head, holds)), default=0) for holds in ("run", "embeddings")
    )
    return run > vectors


def _results_of_runs(
    places: Mapping[str, Any], options: EmbeddingOptions, rules: Convention, ks: Sequence[int]
) -> AgreementResults:
    """The results of runs beside a reference run, for the queries of the reference."""
    reference, *candidates = places
    for option in fields(options):
        value = getattr(options, option.name)
        if option.name in _OF_VECTORS and value != option.default:
            raise BadUsage(
                f"{flag(option.name, value)} applies to vectors, and {reference} is a run; leave "
                "it out."
            )
    names = ("Overlap", "Jaccard", "RBO") if options.has_all_measures else ("Overlap",)
    default_names = [f"{name}@{k}" for k in ks for name in names]
    plans = requested_measures(options, rules, ks, default_names)
    agreement = _Agreement(places, options, rules, plans)
    findings = agreement.builder.findings
    lists = {
        name: formats.read_ranking(run, columns=options.columns, findings=findings).to_dict()
        for name, run in places.items()
    }
    first = lists[reference]
    for name in candidates:
        n_shared = len(first.keys() & lists[name].keys())
        if not n_shared:
            raise NothingToEvaluate(
                f"{name} and {reference} have no query in common ({reference} has queries like "
                f"{next(iter(first), '')!r}, {name} like {next(iter(lists[name]), '')!r}"
                "); are these runs of one data set?"
            )
        noun = ("query", "queries")
        if missing := [query for query in first if query not in lists[name]]:
            findings.append(queries_missing(name, missing, noun))
        if unknown := sort_ids(lists[name].keys() - first.keys()):
            findings.append(queries_unknown(name, unknown, noun, f"list of {reference}"))
        agreement.add(
            name, ranking_pairs(first, {query: lists[name].get(query, {}) for query in first})
        )
    return agreement.results(
        rules={
            "convention": rules.name,
            "reference": reference,
            "queries": len(first),
            "k": ",".join(map(str, ks)),
            "gold_depth": gold_depth_of(rules, max(ks)) or "k",
            "ties": "id-desc",
            "sd": "population" if rules.population_sd else "sample",
            "measures": agreement.definitions,
        },
        panel=VectorPanel([], ()),
        sample=Sample(np.arange(len(first)), list(first), None, len(first)),
    )


@own_arithmetic
def compare_lists(
    reference: ListOfIds,
    candidate: ListOfIds,
    measure: str,
    *,
    gold_depth: int | None = None,
    convention: str = "scholar-stream",
) -> float:
    """Compares two lists of ids by one measure, with the top items of the reference as the truth.

    Returns the value of the measure on the candidate's list.
    Raises BadUsage for a measure that does not apply to lists, UnknownName for a measure or
    convention that does not exist.

    Parameters
    ----------
    reference
        Ids from first to last, or a mapping item -> similarity.
    candidate
        The list to evaluate, in the same form.
    measure
        Name of a measure, or the convention's name for one.
    gold_depth
        Number of top items of the reference that are relevant. By default all, or the cut-off if
        the convention says so.
    convention
        Whose words and rules. In `scholar-stream`, Recall@k, NDCG@k, MRR@k and MAP@k are those of a
        recommender of papers.

    >>> import rankwell as rw
    >>> rw.compare_lists([7, 23, 156, 89, 42], [7, 89, 12, 23, 99], "Recall@5")
    0.6
    >>> round(rw.compare_lists([7, 23, 156], [7, 99, 23, 156, 12], "NDCG@5", gold_depth=3), 3)
    0.906
    >>> rw.compare_lists([7, 23, 156, 89, 42], [99, 7, 23], "MRR@5")
    0.5
    """
    rules = find_convention(convention, "embeddings")
    requested = parse_measure(measure, rules.words)
    pairs = ranking_pairs(reference, candidate)
    if requested.entry.view is RankingPairs:
        return float(requested(pairs)[0])
    check_views([requested], RankingPairs, JudgedRankings)
    depth = gold_depth or (requested.cutoff if cuts_gold(rules) else None)
    return float(requested(pairs.judged(depth))[0])


def convention_of(options: EmbeddingOptions) -> Convention:
    """The convention under which models are compared. Raises BadUsage for one that judges runs, and
    for bad numbers.
    """
    name, convention = options.convention, find_convention(options.convention, "embeddings")
    if options.has_all_measures and cuts_gold(convention):
        raise BadUsage(
            f"{flag('-m', 'all', name='measures')} has no effect where the convention {name} has "
            "measures of its own; leave it out."
        )
    depth = _rules_of(convention).gold_depth
    if isinstance(depth, int) and depth < 1:
        raise BadUsage(f"gold_depth = {depth}; one item or more is relevant.")
    if name != "rankwell" and "embeddings" not in convention.tasks:
        names = [name for name in CONVENTIONS if "embeddings" in CONVENTIONS[name].tasks]
        raise BadUsage(
            f"the convention {name} judges runs; for agreement there are rankwell and "
            f"{', '.join(names)}."
        )
    return convention


def cuts_gold(convention: Convention) -> bool:
    """Whether as many first items of the reference are relevant as the cut-off says, at each
    cut-off, by the convention that it is or begins with.
    """
    return _rules_of(find_convention(convention.origin, "embeddings")).gold_depth == "cut"


def _rules_of(convention: Convention) -> AgreementConvention:
    return convention.rules_of("embeddings", AgreementConvention())


def gold_depth_of(convention: Convention, deepest: int) -> int | None:
    """The number of the reference's first items that are relevant; None for each cut-off.
    deepest: the greatest cut-off.
    """
    depth = _rules_of(convention).gold_depth
    return depth if isinstance(depth, int) else None if depth == "cut" else deepest


class MeasurePlan(NamedTuple):
    """A measure of two lists, or of a list judged by the reference's.

    measure: the measure with all parameters but `gains`.
    exact, label: exact name of the measure, and the word for it.
    gold_depth: number of the reference's first items that are relevant.
    gains: the rule for the gain of a relevant item; `binary` for 1.
    """

    measure: Measure
    exact: str
    label: str
    gold_depth: int
    gains: Gains

    @property
    def definition(self) -> dict[str, str]:
        """The measure's description in the rules; the residual of RBO is how little is known,
        neither good nor bad.
        """
        definition = self.measure.entry.definition
        is_residual = self.measure.name == "RBO" and self.measure.parameters["kind"] == "res"
        return definition | {"better": "neither"} if is_residual else definition


def requested_measures(
    options: EmbeddingOptions, rules: Convention, ks: Sequence[int], default_names: Sequence[str]
) -> tuple[MeasurePlan, ...]:
    """The measures of the options, else the convention's or those of the default names.

    A convention whose truth is a reference's list has words of its own for it; others have words
    for judgments only.
    """
    texts = measure_names(options.measures)
    if texts is None or options.has_all_measures:
        texts = bare_words(rules.defaults) if cuts_gold(rules) else default_names
    return plan_measures(texts, ks, rules.words, gold_depth_of(rules, max(ks)))


def usual_measures(options: EmbeddingOptions, ks: Sequence[int], sample: Sample) -> list[str]:
    """The measures of neighbours where none is named. Raises BadUsage for more depth than
    neighbours.
    """
    deepest, n = max(ks), sample.most_candidates
    gold_depth = gold_depth_of(convention_of(options), deepest) or 0
    for option, value in (("k", deepest), ("the gold depth", gold_depth)):
        if value > n:
            raise BadUsage(
                f"{option} is {value}, but {len(sample.item_names)} vectors leave {n} neighbours; "
                "choose a smaller value, or give more vectors."
            )
    if not options.has_all_measures:
        return [f"Overlap@{k}" for k in ks]
    texts: list[str] = []
    for k in ks:
        names = [*_USUAL, *(_NEED_TWO if k > 1 else ()), f"EpsRecall(eps={_EPS!r})"]
        names += _NEED_HALF if 2 * k < n + 1 else ()
        texts += [f"{name}@{k}" for name in names]
    texts += [f"RBO(kind={kind!r})@{deepest}" for kind in ("min", "res", "ext")]
    return [*texts, "MedR_first", "MnR_first"]


def bare_words(words: Sequence[str]) -> list[str]:
    """The words without their cut-offs, each once."""
    return list(dict.fromkeys(word.partition("@")[0] for word in words))


def plan_measures(
    texts: Sequence[str],
    ks: Sequence[int],
    words: Mapping[str, str],
    gold_depth: int | None,
    views: Sequence[type] = (RankingPairs, JudgedRankings),
) -> tuple[MeasurePlan, ...]:
    """The measures that texts name, each once, at every cut-off of `ks` where a text names none.
    Raises UnknownName, BadUsage.
    """
    plans: dict[str, MeasurePlan] = {}
    deepest = max(ks)
    spelled_texts = [_at_each(text.strip(), ks, words) for text in texts]
    for text in chain.from_iterable(spelled_texts):
        bare, gains = _without_gains(text)
        # A convention's word is for items that are relevant or not.
        measure = parse_measure(bare, words if gains == "binary" else {})
        check_views([measure], *views)
        k = measure.cutoff
        if k is not None and k > deepest:
            raise BadUsage(f"{text} looks at {k} places, the lists have {deepest}; add {k} to -k.")
        exact = str(measure)
        if gains != "binary":
            exact = with_parameter(exact, f"gains={gains!r}")
        label = exact if measure.name == re.split("[(@]", text)[0] else text
        depth = gold_depth or k or deepest
        plans.setdefault(exact, MeasurePlan(measure, exact, label, depth, gains))
    return tuple(plans.values())


def _at_each(text: str, ks: Sequence[int], words: Mapping[str, str]) -> list[str]:
    if "@" in text:
        return [text]
    try:
        parse_measure(_without_gains(f"{text}@{ks[0]}")[0], words)
    except UnknownName:
        raise
    except BadUsage:
        return [text]
    return [f"{text}@{k}" for k in ks]


def with_parameter(name: str, parameter: str) -> str:
    """A measure's exact name with one more parameter before its own:
    `nDCG(gains='similarity')@5`.
    """
    word, bracket, parameters = name.partition("(")
    if bracket:
        return f"{word}({parameter},{parameters}"
    word, at, cut = name.partition("@")
    return f"{word}({parameter}){at}{cut}"


def _without_gains(text: str) -> tuple[str, Gains]:
    """The text without its gains, a parameter of the judged view and not of the measure, and the
    gains.
    """
    match = _GAINS.search(text)
    if match is None:
        return text, "binary"
    if match[2] not in get_args(Gains):
        raise UnknownName(
            f"unknown gains {match[2]!r} (in {text!r}); known are {', '.join(get_args(Gains))}."
        )
    bare = text[: match.start()] + text[match.end() :]
    return bare.replace("()", "").replace(",)", ")"), cast(Gains, match[2])


class _Agreement:
    """The candidates measured so far. pairs: candidate -> its lists beside the reference's."""

    def __init__(
        self,
        places: Mapping[str, Any],
        options: EmbeddingOptions,
        rules: Convention,
        plans: Sequence[MeasurePlan],
    ) -> None:
        self._places, self._options, self._plans = places, options, plans
        self.builder = ResultsBuilder(rules)
        self.pairs: dict[str, RankingPairs] = {}
        self.definitions: dict[str, dict[str, str]] = {}

    def add(self, name: str, pairs: RankingPairs) -> None:
        """Measures one candidate."""
        self.pairs[name] = pairs
        judged = cache(pairs.judged)
        for plan in self._plans:
            view = pairs
            if plan.measure.entry.view is not RankingPairs:
                view = judged(plan.gold_depth, plan.gains)
            self._keep(name, plan, pairs.queries, plan.measure(view), **self._chance(plan, pairs))

    def _chance(self, plan: MeasurePlan, pairs: RankingPairs) -> Mapping[str, float | None]:
        """The chance level of a measure, where it is known; runs say of how many items they are
        lists.
        """
        del plan, pairs
        return {}

    def _keep(
        self, run: str, plan: MeasurePlan, queries: Sequence[str], values: Floats, **columns: Any
    ) -> None:
        self.builder.keep(run, plan.measure, plan.label, queries, values, name=plan.exact)
        self.builder.row_attributes.append({"k": plan.measure.cutoff, **columns})
        self.definitions[plan.exact] = plan.definition

    def results(
        self, rules: Rules, findings: Sequence[Finding] = (), **fields: Any
    ) -> AgreementResults:
        """The results of all candidates."""
        builder, options = self.builder, self._options
        reference, *candidates = self._places
        changes = self._changes(candidates)
        return builder.results(
            AgreementResults,
            rules=rules,
            measures=[LabelledMeasure(plan.measure, plan.label) for plan in self._plans],
            findings=[*findings, *builder.findings, *self._on_changes(changes)],
            tables={"changes": changes},
            reference=reference,
            candidates=tuple(candidates),
            convention=builder.convention,
            pairs=self.pairs,
            sources=sources_of(
                self._places, {name: getattr(options, name) for name in _FURTHER_FILES}
            ),
            intervals=options.intervals,
            seed=options.sampling_seed,
            task="embeddings",
            answer=embeddings_answer,
            **fields,
        )

    def _changes(self, candidates: Sequence[str]) -> list[Row]:
        """Relative changes of the means of the further candidates against the first's, over queries
        that count in both, as rows.
        """
        first, *other_candidates = candidates
        if not other_candidates:
            return []
        builder, options = self.builder, self._options
        base = {
            values.measure: values
            for values in builder.values
            if values.run == first and values.summary == "mean"
        }
        compared = [
            (values, columns["k"])
            for values, columns in zip(builder.values, builder.row_attributes, strict=True)
            if values.run in other_candidates and values.measure in base
        ]
        changes = relative_changes(
            [(base[values.measure].values, values.values) for values, _ in compared],
            bootstrap=options.intervals != "none",
            seed=options.sampling_seed,
        )
        rows: list[Row] = []
        for (values, k), change in zip(compared, changes, strict=True):
            low, high = change.interval or (None, None)
            names = (f"Change({name})" for name in (values.measure, values.label))
            row = SummaryRow.of(
                values.run, *names, change.value, None, low, high, change.n, "share"
            )
            rows.append({**row, "k": k, "chance": None, "against": first})
        return rows

    def _on_changes(self, changes: Sequence[Row]) -> list[Finding]:
        """The finding on changes without an interval, as one resample whose first mean is not above
        0 leaves none.
        """
        lacking = [
            row
            for row in changes
            if row["mean"] is not None and row["ci_low"] is None and row["n"] >= MIN_QUERIES
        ]
        if self._options.intervals == "none" or not lacking:
            return []
        labels = ", ".join(dict.fromkeys(row["label"] for row in lacking))
        return [change_without_interval(lacking[0]["against"], labels)]


class _VectorAgreement(_Agreement):
    """The models measured so far."""

    def __init__(
        self,
        places: Mapping[str, Any],
        options: EmbeddingOptions,
        rules: Convention,
        plans: Sequence[MeasurePlan],
        ks: Sequence[int],
        lists: NeighbourLists,
    ) -> None:
        super().__init__(places, options, rules, plans)
        self._ks, self._deepest, self._lists = ks, max(ks), lists
        self._has_aggregates = options.has_all_measures
        self._tops: dict[str, TopK] = {lists.reference.name: lists.top}
        self._vectors: Representation | None = None
        self._chances: dict[tuple[str, bytes], float | None] = {}
        self.aggregates: list[Row] = []
        self._margins: dict[int, float | None] = {}

    def add_model(self, candidate: Model) -> None:
        """Measures one candidate, and all its vectors."""
        pairs, self._tops[candidate.name] = self._lists.compare(candidate)
        self.add(candidate.name, pairs)
        if self._has_aggregates:
            self._add_alignment(candidate)
            self._add_hubs(candidate.name)

    def _chance(self, plan: MeasurePlan, pairs: RankingPairs) -> Mapping[str, float | None]:
        # It is the same for all candidates whose lists are as long.
        key = plan.exact, pairs.candidate.offsets.tobytes()
        if key not in self._chances:
            chance = chance_level(plan.measure, pairs, gold_depth=plan.gold_depth, gains=plan.gains)
            defined = chance[~np.isnan(chance)]
            self._chances[key] = exact_mean(defined) if len(defined) else None
        return {"chance": self._chances[key]}

    def add_reference(self) -> None:
        """Adds the margin of the reference's lists, and rows of it and of their hubs."""
        pairs, name = next(iter(self.pairs.values())), self._lists.reference.name
        for k in self._ks:
            near_counts = margin(pairs, k=k, eps=_EPS)
            self._margins[k] = (
                None if np.isnan(near_counts).all() else float(np.nanmedian(near_counts))
            )
        if self._has_aggregates:
            for plan in plan_measures([f"Margin(eps={_EPS!r})"], self._ks, {}, None):
                self._keep(name, plan, pairs.queries, plan.measure(pairs), chance=None)
            self._add_hubs(name)

    def judge(self, labels: Any) -> None:
        """Measures the reference and every candidate against judgments of some of the queries."""
        rules, words = self.builder.convention, ["nDCG", "P", "R", "AP", "RR"]
        if cuts_gold(rules):
            words = bare_words(rules.defaults)
        plans = plan_measures(words, self._ks, rules.words, None, [JudgedRankings])
        found_judgments = formats.find_judgments(labels, qrels_columns=self._options.qrels_columns)
        flat, names = found_judgments.judgments.flat, self._lists.sample.names
        findings = self.builder.findings
        findings += found_judgments.findings
        row_of = positions_by_id(flat.queries)
        judged = np.flatnonzero([name in row_of for name in names])
        if not len(judged):
            raise NothingToEvaluate(
                f"the labels judge {len(row_of)} queries, none of them among the {len(names)} "
                f"sampled items (as {names[0]!r}); their queries are ids of the embeddings."
            )
        lacking = sort_ids(set(flat.items) - set(self._lists.sample.item_names))
        if lacking:
            file = labels if isinstance(labels, (str, Path)) else "qrels"
            findings.append(judged_items_missing(str(file), len(lacking), lacking[0]))
        queries = [names[query] for query in judged.tolist()]
        flat = flat.with_junk({query: [query] for query in queries})
        rows = np.array([row_of[query] for query in queries], dtype=np.int64)
        for run, top in self._tops.items():
            first = slice(self._deepest)
            short = replace(top, positions=top.positions[:, first], scores=top.scores[:, first])
            hits = formats.find_hits(short.ranking(), flat, ties="input").hits
            view = JudgedRankings.join(flat, hits).resolve("input").take(rows)
            for plan in plans:
                values = np.full(len(names), np.nan)
                values[judged] = plan.measure(view)
                exact = with_parameter(plan.exact, "truth='labels'")
                plan_of_labels = plan._replace(exact=exact, label=f"{plan.label} (labels)")
                self._keep(run, plan_of_labels, names, values, chance=None)

    def _add_alignment(self, candidate: Model) -> None:
        n, name = self._lists.reference.embeddings.n, candidate.name
        size = min(n, _ALIGNED_ITEMS)
        rows = slice(None) if size == n else np.arange(size, dtype=np.int64) * n // size
        self._vectors = self._vectors or Representation(
            self._lists.reference.embeddings.vectors[rows]
        )
        cka = linear_cka(self._vectors, Representation(candidate.embeddings.vectors[rows]))
        self._aggregate(name, "CKA", cka.linear, size)
        self._aggregate(name, "CKA(kind='debiased')", cka.debiased, size, chance=0.0)

    def _add_hubs(self, name: str) -> None:
        k, queries = self._deepest, len(self._lists.sample.rows)
        hubs = hubness(self._tops[name].positions, len(self._lists.sample.item_names), k=k)
        self._aggregate(name, f"Hubness@{k}", hubs.skewness, queries, k)
        self._aggregate(name, f"Hubness(kind='largest')@{k}", hubs.largest, queries, k, "count")
        self._aggregate(name, f"Hubness(kind='never')@{k}", hubs.never, queries, k, "share")

    def _aggregate(
        self,
        run: str,
        name: str,
        value: float,
        n: int,
        k: int | None = None,
        unit: Unit = "score",
        chance: float | None = None,
    ) -> None:
        mean = None if np.isnan(value) else float(value)
        row = SummaryRow.of(run, name, name, mean, None, None, None, n, unit)
        self.aggregates.append(row | {"k": k, "chance": chance})
        self.definitions[name] = FIGURES[name.partition("@")[0]].rule | {"summary": "mean"}

    def query_columns(self) -> dict[str, Sequence[Any]]:
        """The columns of queries.parquet."""
        pairs, k = next(iter(self.pairs.values())), self._deepest
        near_cut = margin(pairs, k=k, eps=_EPS) if self._margins else None
        return query_columns(self._lists.sample, pairs, k, near_cut)

    def rules(self, matching: Mapping[str, Any], panel: VectorPanel) -> dict[str, Any]:
        """Every choice that decided a number. matching: how rows belong together."""
        sample, rules = self._lists.sample, self.builder.convention
        n, queries = len(sample.item_names), len(sample.rows)
        least, most = int(sample.n_candidates.min()), int(sample.n_candidates.max())
        margins = " ".join(
            f"{k}:{'–' if value is None else f'{value:g}'}" for k, value in self._margins.items()
        )
        return {
            "convention": rules.name,
            "reference": self._lists.reference.name,
            "queries": f"{queries} of {n}",
            "candidates": most if least == most else f"{least} to {most}",
            "sampling": "all" if queries == n else "RandomState.choice",
            "exclude": "self" if sample.labels is None else "self and same label",
            "k": ",".join(map(str, self._ks)),
            "gold_depth": gold_depth_of(rules, self._deepest) or "k",
            "metric": self._options.metric,
            **matching,
            **({"eps": _EPS} if self._margins else {}),
            **({"cka_items": min(n, _ALIGNED_ITEMS)} if "CKA" in self.definitions else {}),
            "ties": "position",
            **({"margin": margins} if margins else {}),
            "sd": "population" if rules.population_sd else "sample",
            "measures": self.definitions,
            # Intervals, seed and version stand before the panel.
            "intervals": self._options.intervals,
            "seed": self._options.sampling_seed,
            "version": __version__,
            "panel": panel.rows,
        }


def evaluate_candidates(
    candidates: Sequence[str],
    *,
    options: "EmbeddingCommandOptions",
    details: bool,
    progress: Progress,
) -> PartOutcome | Presented:
    """The comparison of the command, and how it is printed."""
    outcome = agreement_results(
        options.reference, candidates, options, details=details, progress=progress
    )
    if outcome.result is None:
        return outcome
    return Presented(outcome.result, show)
