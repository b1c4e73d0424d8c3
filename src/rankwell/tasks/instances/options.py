"""The options of a search for instances, and its rules: the user's own, else the convention's."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from rankwell.conventions import (
    LabelledMeasure,
    NoRelevantRule,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.core.options import (
    ConventionName,
    CutoffNumbers,
    Input,
    InputData,
    MeasureNames,
    Option,
    cutoffs,
)
from rankwell.core.registry import at_each_cutoff, measure_names, parse_measure, suggest
from rankwell.core.tables import TIE_RULES, MatrixTies
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadUsage, UnknownName, flag
from rankwell.stats import Intervals
from rankwell.tasks.instances.conventions import Excluded, InstanceConvention
from rankwell.tasks.instances.images import (
    FilteredImages,
    Images,
    Switch,
    both_sides,
    filter_images,
)

CUTOFFS = (1, 5, 10)
NAMED = "TP/PRED"
"""The share of queries named rightly among those whose best reference has a label."""
ENCODER_SETTINGS = ("size", "output_name", "weights", "batch_size", "device")
"""Settings of an encoder, under the same names in `ImageSettings`."""
_TIES: tuple[MatrixTies, ...] = (*TIE_RULES, "input-desc")


@dataclass(frozen=True, kw_only=True)
class InstanceOptions:
    """The choices that decide the values of `evaluate_instances`, and the runs that it reads.

    Parameters
    ----------
    embeddings
        Vectors of all images by id, in any format of `rankwell search`; name more to compare
        systems.
    queries
        Vectors of the queries, with --references.
    references
        Vectors of the references.
    scores
        Matrices of scores, a row per query and a column per reference; name more to compare
        systems.
    positives
        Judgments in place of labels: JSON (query -> references, by id or position), judgments in
        any format, or diagonal.
    metric
        Similarity of vectors; cosine by default.
    ids
        File or column of the images' ids, for embeddings that have none.
    query_ids
        Likewise of the queries, for --queries and the rows of --scores.
    reference_ids
        Likewise of the references, for --references and the columns of --scores.
    run
        Name of a single run; by default its file's name.
    exclude
        References that count nowhere for a query: self, camera (those of its instance by its
        camera), group (all of its group), separated by commas, or none; by default the
        convention's.
    contentless
        References without content are left out (filter), or stay.
    absent
        Queries of instances that no reference shows are left out (filter), or stay; by default the
        convention's.
    measures
        A measure, at every cut-off where it needs one (P), or at one (P@10); AP,
        "AP(area='trapezoid')", APatR (mAP@R), cmc, TP/PRED; repeat it for more.
    k
        Cut-offs of measures that name none, separated by commas; 1,5,10 by default.
    cut
        Length of a list, for its precision P_q = RR/RET and its recall R_q = RR/REL; thesis has 10.
    convention
        Whose words and rules: thesis, thesis-code, oxford, revisited-E, revisited-M, revisited-H,
        gldv2, market1501, torchreid, sop, vpr; rankwell for plain names.
    ties
        Order of references with equal scores: expected, input, input-desc, id-asc, id-desc,
        optimistic, pessimistic, error.
    no_relevant
        A query without a right reference: counts as not found (empty), is left out (skip), or is an
        error.
    transforms
        Change vectors or scores first; repeat it for more, in order. query-expansion(k=10, alpha=3)
        adds its k nearest references to each query, each times its cosine to the power alpha,
        database-augmentation(k=10, alpha=3) to each reference; instance-average(k=0) adds to each
        reference the k nearest others of its instance, 0 all; whitening(dimensions=0, power=0.5)
        keeps the first dimensions, 0 all; reciprocal(k1=20, k2=6, weight=0.3) ranks anew by shared
        neighbours; dual-softmax(temperature=T) needs its number. The others hold where none is
        given.
    learn
        Vectors of other images that whitening is learnt on, in place of the references.
    confidence
        Whether the scores predict which queries are answered well: adds nAUC and AURC of every
        measure, and AUROC, AUPRC and EP of Success, by the score of the best reference (max), or
        its distance from the second (diff1); repeat it for more.
    clusters
        Adds NMI and AMI with the labels: a table with the cluster of each image (FILE, or
        FILE:COLUMN) for each run, or kmeans, which clusters the vectors by the seed into as many
        clusters as there are instances.
    intervals
        95 % intervals over queries: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles),
        Student's `t`, or none.
    seed
        Seed of the bootstrap, and of k-means.
    """

    embeddings: Annotated[InputData, Option(many=True, kind=list[str])] = None
    queries: InputData = None
    references: InputData = None
    scores: Annotated[InputData, Option(many=True, kind=list[str])] = None
    positives: Annotated[InputData, Input(perhaps=True)] = None
    metric: Literal["cosine", "dot", "l2"] | None = None
    ids: InputData = None
    query_ids: InputData = None
    reference_ids: InputData = None
    run: str | None = None
    exclude: Annotated[Sequence[str] | str | None, Option(kind=str)] = None
    contentless: Switch = "filter"
    absent: Switch | None = None
    measures: MeasureNames = None
    k: CutoffNumbers = None
    cut: int | None = None
    convention: ConventionName = "thesis"
    ties: str | None = None
    no_relevant: Literal["empty", "skip", "error"] | None = None
    transforms: Annotated[Sequence[str] | str | None, Option(("--transform",), kind=list[str])] = (
        None
    )
    learn: InputData = None
    confidence: list[Literal["max", "diff1"]] | None = None
    clusters: Annotated[Any, Option(many=True, kind=list[str])] = None
    intervals: Intervals = "bootstrap-t"
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class ImageSetOptions:
    """The form of a data set of images.

    Parameters
    ----------
    query_images
        Folder of the queries, where the data set is a folder of references; inside that folder,
        they are queries only.
    root
        Folder of the images that a table or a JSON lists.
    pattern
        Form of file names, such as "{instance}_{camera}_*.jpg".
    contentless_images
        Images that show nothing to be recognised, by a pattern of their ids, such as "*wall*".
    """

    query_images: Annotated[str | None, Input()] = None
    root: Annotated[str | None, Input()] = None
    pattern: str | None = None
    contentless_images: str | None = None


@dataclass(frozen=True, kw_only=True)
class ImageSystemOptions:
    """A system that computes a run from the images: an encoder or local features.

    Parameters
    ----------
    encoder
        Model that makes vectors of the images: resnet152-im:FILE.onnx, alexnet-im:FILE.onnx,
        gordo:FILE.onnx, any FILE.onnx, torch:./FILE.py:OBJECT with --weights, ./FILE.py:OBJECT, a
        model of sentence-transformers, colour-histogram or small-grey.
    size
        Size to which the encoder scales images, such as 224x224, or original; `rankwell encode
        images` has further settings.
    output_name
        Output of the network to take, where it has several.
    weights
        File of a state dict, for torch.
    batch_size
        Images at a time.
    device
        Where the encoder computes, cpu or cuda.
    local_features
        Compare pictures by SIFT, or by its square roots, with the ratio test.
    score
        Of local features: the inliers of RANSAC's best homography (the default), or the matches
        alone.
    longest
        Of local features: pixels of the longer side at most; 640 by default.
    processes
        Of local features: number of processes to start; by default one, with a thread for each
        processor, which is faster.
    cache
        Folder in which vectors or features are kept by the content of each image, so that an
        interrupted run resumes.
    """

    encoder: Annotated[str | None, Input(perhaps=True)] = None
    size: str | None = None
    output_name: str | None = None
    weights: Annotated[Path | None, Input()] = None
    batch_size: int | None = None
    device: str | None = None
    local_features: Literal["rootsift", "sift"] | None = None
    score: Literal["inliers", "matches"] | None = None
    longest: int | None = None
    processes: int | None = None
    cache: Path | None = None


class InstanceRules:
    """Every rule, resolved; with positives, queries without a label are not absent. Raises
    UnknownName and BadUsage.

    reading: the convention's. by_id: whether images are known, so that two of one id are the same.
    """

    def __init__(self, options: InstanceOptions, *, by_id: bool) -> None:
        self.convention = find_convention(options.convention, "instances")
        self.reading = self.convention.rules_of("instances", InstanceConvention(exclude=("self",)))
        own, known = options.exclude, get_args(Excluded)
        words = (
            own.replace(",", " ").split()
            if isinstance(own, str)
            else None
            if own is None
            else list(own)
        )
        if words is not None and words != ["none"]:
            for word in words:
                if word not in known:
                    raise UnknownName(f"exclude {word!r}: {suggest(word, (*known, 'none'))}")
            if not by_id:
                raise BadUsage(
                    f"{flag('--exclude')} {','.join(words)}: nothing says which image is "
                    "which; name the data set of images."
                )
        chosen = (
            ()
            if words == ["none"] or not by_id
            else self.reading.exclude
            if words is None
            else words
        )
        self.exclude: tuple[Excluded, ...] = tuple(rule for rule in known if rule in chosen)
        self.contentless: Switch = options.contentless
        self.absent: Switch = (
            "keep" if options.positives is not None else options.absent or self.reading.absent
        )
        named: MatrixTies | None = next((rule for rule in _TIES if rule == options.ties), None)
        if named is None and options.ties is not None:
            raise UnknownName(f"unknown tie rule {options.ties!r}; {suggest(options.ties, _TIES)}")
        self.ties: MatrixTies = named or self.reading.ties
        self.no_relevant: NoRelevantRule = options.no_relevant or self.convention.no_relevant

    def filtered(self, images: Images) -> FilteredImages:
        """The images that take part."""
        return filter_images(
            images,
            contentless=self.contentless,
            absent=self.absent,
            junk_label=self.reading.junk_label,
        )


def taking_part(images: Images, options: InstanceOptions) -> Images:
    """The images that an evaluation with these options uses. Raises NothingToEvaluate where a side
    has none left.
    """
    kept = InstanceRules(options, by_id=True).filtered(images).images
    both_sides(kept)
    return kept


def labelled_measures(options: InstanceOptions) -> tuple[tuple[LabelledMeasure, ...], bool]:
    """The measures, and whether TP/PRED is among them."""
    rules, cut = find_convention(options.convention, "instances"), options.cut
    reading = rules.rules_of("instances", InstanceConvention())
    listed, ks = (
        measure_names(options.measures),
        CUTOFFS if options.k is None else cutoffs(options.k),
    )
    named = reading.labels if listed is None else NAMED in listed
    texts = list(rules.defaults) if listed is None else [text for text in listed if text != NAMED]
    spelled = [each for text in texts for each in at_each_cutoff(text, ks, rules.words)]
    chosen = choose_measures(spelled, rules) if spelled else ()
    check_views((each.measure for each in chosen), JudgedRankings)
    depth = cut if cut is not None or listed is not None else reading.cut
    if depth is not None:
        if depth < 1:
            raise BadUsage(f"cut {depth}; a list has one place or more.")
        whole = ("P_q", f"P(denom='retrieved')@{depth}"), ("R_q", f"R@{depth}")
        chosen += tuple(
            LabelledMeasure(parse_measure(text), label if "P_q" in rules.words else text)
            for label, text in whole
        )
    if not chosen:
        raise BadUsage(f"name a measure of rankings beside {NAMED}, such as P@1.")
    return tuple({str(each.measure): each for each in chosen}.values()), named


def takes_cutoffs(options: InstanceOptions) -> bool:
    """Whether any of the measures, or of the convention's for None, needs a cut-off and names
    none.
    """
    rules, names = find_convention(options.convention, "instances"), measure_names(options.measures)
    texts = rules.defaults if names is None else [text for text in names if text != NAMED]
    return any(at_each_cutoff(text, CUTOFFS, rules.words) != [text] for text in texts)
