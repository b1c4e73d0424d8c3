"""The inputs of a comparison: the models' vectors, a sample of the items, their neighbours by every
model, and the measures.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from rankwell._native.similarity import Metric
from rankwell.conventions import CONVENTIONS, Convention, check_views, find_convention
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Embeddings, align, matching_rows, named_places, refuse_non_finite
from rankwell.data.options import PartOptions
from rankwell.data.ranking_pairs import Gains, RankingPairs
from rankwell.data.registry import Measure, measure_names, parse_measure
from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadInput, BadUsage, UnknownName, flag, shown
from rankwell.io.formats import read_column
from rankwell.io.matrices import read_embeddings
from rankwell.runtime.parts.tables import planned_embeddings
from rankwell.tasks.agreement.conventions import AgreementConvention
from rankwell.tasks.agreement.options import AgreementOptions
from rankwell.tasks.agreement.vectors import VectorPanel, vector_panel
from rankwell.vectors.neighbours import Groups, TopK, ranks_of, search

Progress = Callable[[int, int], None]
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


def named_models(reference: Any, candidates: Any) -> dict[str, Any]:
    """The places or tables of the reference and then of the candidates, by name. Raises BadUsage
    for a name used twice.
    """
    if isinstance(candidates, Mapping):
        pairs: list[tuple[str, Any]] = [(str(name), data) for name, data in candidates.items()]
    elif isinstance(candidates, (list, tuple)):
        pairs = [("", data) for data in candidates]
    else:
        pairs = [("", candidates)]
    if not pairs:
        raise BadUsage("no candidate is given; name at least one after the reference.")
    names = [f"candidate{number}" for number in range(1, len(pairs) + 1)]
    names = names if len(pairs) > 1 else ["candidate"]
    return named_places([("", reference), *pairs], ["reference", *names])


def read_models(
    places: Mapping[str, Any], options: AgreementOptions, parts: PartOptions
) -> "tuple[list[Model], list[str]]":
    """The models with their rows in the reference's order, the reference first, and notes.

    In parts no vectors of objects are read, unless their rows are in another order; in a dry run
    rows keep their order.
    """
    # The panel looks at every number anyway.
    read = planned_embeddings if parts.is_used else partial(read_embeddings, check=False)
    tables: dict[str, Embeddings] = {}
    for name, data in places.items():
        table = read(data)
        if table.ids is None and options.ids is not None:
            table = read(data if isinstance(data, (str, Path)) else table, ids=options.ids)
        tables[name] = table
    first, reference = next(iter(tables.items()))
    notes: list[str] = []
    if len({table.ids is None for table in tables.values()}) > 1:
        notes.append("only some of the embeddings have ids, so that rows are matched by position")
    for name, table in tables.items():
        if name == first:
            continue
        if parts.dry_run:
            matching_rows(reference, table, first, name)
        else:
            tables[name] = align(reference, table, first, name)
    return [Model(name, table, options.metric) for name, table in tables.items()], notes


def check_vectors(models: "Sequence[Model]", *, spectrum: bool) -> VectorPanel:
    """The panel of the models' vectors. Raises BadScore for a number that is not finite, BadInput
    for zero under cosine.
    """
    panel = vector_panel({model.name: model.items for model in models}, spectrum=spectrum)
    for model, row in zip(models, panel.rows, strict=True):
        if row["nan"] or row["infinite"]:
            try:
                refuse_non_finite(model.items)
            except BadInput as error:
                raise type(error)(f"{model.name}: {error}") from error
        if row["zero"] and model.metric == "cosine":
            warning = next(
                text
                for text in panel.warnings
                if text.startswith(f"{model.name}: ") and " zero, " in text
            )
            raise BadInput(f"{warning[:-1]}; drop it, or take {flag('--metric', 'dot')} or l2.")
    return panel


@dataclass(frozen=True, eq=False)
class Sample:
    """The items that are queries. rows: (queries,) places among the items. labels: (items,) None
    excludes nothing.
    """

    rows: Ints
    items: Sequence[str]
    labels: Sequence[Hashable] | None
    requested: int

    @classmethod
    def draw(
        cls, items: Sequence[str], options: AgreementOptions, *, sized: bool = False
    ) -> "Sample":
        """Items as NumPy's `RandomState(seed).choice` draws them, all in order if there are fewer.
        Raises BadUsage, BadInput.

        sized: only the number of rows is right where there are no labels; to draw them takes a
        permutation of all items.
        """
        size, n = options.samples, len(items)
        if isinstance(size, str) and size != "all" and not (size.isdecimal() and len(size) < 19):
            raise BadUsage(
                f"{flag('--samples')} {shown(size)}: expected a positive integer, or all."
            )
        labels, requested = _labels(options.exclude, n), n if size == "all" else int(size)
        if requested < n and (requested < 1 or not 0 <= options.seed < 1 << 32):
            raise BadUsage(
                f"{requested} samples with the seed {options.seed}; one sample or more, and a seed "
                "from 0 to 4294967295."
            )
        if sized and labels is None:
            return cls(np.broadcast_to(np.int64(0), min(requested, n)), items, None, requested)
        if requested >= n:
            return cls(np.arange(n, dtype=np.int64), items, labels, requested)
        rows = np.random.RandomState(options.seed).choice(n, requested, replace=False)
        return cls(rows.astype(np.int64), items, labels, requested)

    @property
    def is_all(self) -> bool:
        """Whether the sample is all items, in order."""
        return len(self.rows) == len(self.items)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(queries,) the names of the sampled items."""
        rows: list[int] = self.rows.tolist()
        return tuple(self.items[row] for row in rows)

    @cached_property
    def groups(self) -> Groups | None:
        """The labels of queries and items in the form of `search`."""
        if self.labels is None:
            return None
        rows: list[int] = self.rows.tolist()
        return Groups([self.labels[row] for row in rows], self.labels)

    @cached_property
    def n_candidates(self) -> Ints:
        """(queries,) number of items that may be neighbours of each query."""
        if self.groups is None:
            return np.full(len(self.rows), len(self.items) - 1, dtype=np.int64)
        sizes = Counter(self.groups.items)
        excluded = [1 if label is None else sizes[label] for label in self.groups.queries]
        return len(self.items) - np.array(excluded, dtype=np.int64)

    @property
    def most_candidates(self) -> int:
        """Number of items that may be neighbours of some query."""
        return len(self.items) - 1 if self.labels is None else int(self.n_candidates.max())


def _labels(exclude: Any, n: int) -> list[str | None] | None:
    if exclude is None:
        return None
    if isinstance(exclude, (str, Path)):
        labels = read_column(exclude)
    else:
        labels = [None if label is None else str(label) for label in exclude]
    if len(labels) != n:
        raise BadInput(
            f"{len(labels)} labels to exclude by, for {n} vectors; there is one for each, in "
            "the reference's order."
        )
    return [label or None for label in labels]


@dataclass(frozen=True, eq=False)
class Model:
    """The vectors of all items by one model, in the order of the reference."""

    name: str
    items: Embeddings
    metric: Metric

    def nearest(self, sample: Sample, k: int, progress: Progress | None = None) -> TopK:
        """The first k neighbours of each sampled item. Raises BadInput that names the model and the
        vector at fault.
        """
        try:
            return search(
                self._queries(sample), self.items, k=k, **self._options(sample), progress=progress
            )
        except BadInput as error:
            raise type(error)(f"{self.name}: {error}") from error

    def exact_ranks(
        self, sample: Sample, items: Ints, progress: Progress | None = None
    ) -> tuple[Ints, Floats]:
        """(queries, m) ranks among all candidates, from 1, 0 for no item, and similarities. items:
        (queries, m) rows, or -1.
        """
        ranks = ranks_of(
            self._queries(sample), self.items, items, **self._options(sample), progress=progress
        )
        return ranks.above + ranks.before + 1, ranks.scores

    def in_half_precision(self) -> "Model":
        """The model with its vectors as float16. Raises BadInput where a number exceeds that
        type.
        """
        with np.errstate(over="ignore"):
            half = np.asarray(self.items.vectors, dtype=np.float16)
        if not np.isfinite(half).all():
            raise BadInput(
                f"{self.name}: float16 ends at 65504, which a number exceeds; scale the vectors, "
                f"or leave out {flag('--ceiling')}."
            )
        return Model(f"{self.name} (float16)", Embeddings(self.items.ids, half), self.metric)

    def _options(self, sample: Sample) -> dict[str, Any]:
        return {"metric": self.metric, "exclude": "self", "groups": sample.groups}

    def _queries(self, sample: Sample) -> Embeddings:
        vectors = self.items.vectors
        return Embeddings(sample.names, vectors if sample.is_all else vectors[sample.rows])


def convention_of(options: AgreementOptions) -> Convention:
    """The convention under which models are compared. Raises BadUsage for one that judges runs, and
    for bad numbers.
    """
    if not options.eps >= 0:
        raise BadUsage(f"eps={options.eps!r}: expected 0 or more.")
    if options.gold_depth is not None and options.gold_depth < 1:
        raise BadUsage(f"a gold depth of {options.gold_depth}; one item or more is relevant.")
    name, convention = options.convention, find_convention(options.convention, "agreement")
    if name == "rankwell":
        # The title of the default is on rankings with judgments.
        return convention._replace(
            title="the items that lists of neighbours share, and their order"
        )
    if "agreement" not in convention.tasks:
        names = [name for name in CONVENTIONS if "agreement" in CONVENTIONS[name].tasks]
        raise BadUsage(
            f"the convention {name} judges runs; for agreement there are rankwell and "
            f"{', '.join(names)}."
        )
    return convention


def cuts_gold(convention: Convention) -> bool:
    """Whether as many first items of the reference are relevant as the cut-off says, at each
    cut-off.
    """
    return convention.rules_of("agreement", AgreementConvention()).gold_depth == "cut"


class MeasurePlan(NamedTuple):
    """A measure of two lists, or of a list judged by the reference's. exact, label: its exact name,
    and the word used.
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
    options: AgreementOptions, rules: Convention, ks: Sequence[int], default_names: Sequence[str]
) -> tuple[MeasurePlan, ...]:
    """The measures of the options, else the convention's or those of the default names.

    A convention whose truth is a reference's list has words of its own for it; others have words
    for judgments only.
    """
    cut, texts = cuts_gold(rules), measure_names(options.measures)
    texts = texts or (bare_words(rules.defaults) if cut else default_names)
    gold_depth = options.gold_depth or (None if cut else max(ks))
    return plan_measures(texts, ks, rules.words, gold_depth)


def usual_measures(options: AgreementOptions, ks: Sequence[int], sample: Sample) -> list[str]:
    """The measures of neighbours where none is named. Raises BadUsage for more depth than
    neighbours.
    """
    deepest, n = max(ks), sample.most_candidates
    for option, value in (("k", deepest), ("the gold depth", options.gold_depth or 0)):
        if value > n:
            raise BadUsage(
                f"{option} is {value}, but {len(sample.items)} vectors leave {n} neighbours; "
                "choose a smaller value, or give more vectors."
            )
    texts: list[str] = []
    for k in ks:
        names = [*_USUAL, *(_NEED_TWO if k > 1 else ()), f"EpsRecall(eps={options.eps!r})"]
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
