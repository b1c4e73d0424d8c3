"""The options of a search for instances, and its rules: the user's own, else the convention's."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Annotated, Literal, get_args

from rankwell.conventions import (
    LabelledMeasure,
    NoRelevantRule,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import (
    ConventionName,
    CutoffNumbers,
    Doc,
    IdData,
    Input,
    Lists,
    MeasureNames,
    Option,
    Place,
    VectorData,
    cutoffs,
)
from rankwell.data.registry import at_each_cutoff, measure_names, parse_measure, suggest
from rankwell.data.tables import TIE_RULES, MatrixTies
from rankwell.errors import BadUsage, UnknownName, flag
from rankwell.evaluation.options import (
    BankOption,
    JudgmentData,
    MeasureOptions,
    Similarity,
    StatisticsOptions,
    TieOptions,
)
from rankwell.tasks.images.conventions import Excluded, InstanceConvention
from rankwell.tasks.images.images import (
    FilteredImages,
    Images,
    Switch,
    filter_images,
    mark_contentless,
    read_images,
)
from rankwell.vectors.encoders import ImageCache, NetworkSettings

CUTOFFS = (1, 5, 10)
MatchExecutor = Annotated[
    str | None,
    Doc(
        "Where to match local features: here, with a thread per processor, or processes:N. "
        "[default: here]",
        "Scaling",
    ),
]
LocalFeaturesText = Annotated[
    str | None,
    Doc(
        "Compare images by matches of sift features, or of rootsift, their square roots. In full, "
        "'rootsift(features=800, ratio=0.8, reprojection=5, score=inliers, max_size=640)' keeps "
        "the strongest features of images of 640 pixels, and counts the matches that pass the "
        "ratio test and fit the best homography to 5 pixels; score=matches counts all that pass "
        "the ratio test.",
        is_common=True,
    ),
]
NAMED = "TP/PRED"
"""The share of queries named rightly among those whose best reference has a label."""
ENCODER_SETTINGS = tuple(field.name for field in fields(NetworkSettings))
_TIES: tuple[MatrixTies, ...] = (*TIE_RULES, "input-desc")


@dataclass(frozen=True, kw_only=True)
class ImageOptions(TieOptions, StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `evaluate_images`, and the runs that it reads."""

    item_vectors: Annotated[
        VectorData,
        Option(takes_all=True, kind=list[str]),
        Doc(
            "Vectors of all images by id, one file for each system. Any format of "
            "`rankwell knn`. With --query-vectors, those of the references.",
            is_common=True,
        ),
    ] = None
    query_vectors: Annotated[
        VectorData, Doc("Vectors of the queries, if they are not among --item-vectors.")
    ] = None
    scores: Annotated[
        VectorData,
        Option(takes_all=True, kind=list[str]),
        Doc(
            "Score matrices with a row per query and a column per reference, one file for each "
            "system. Ids in NAME.queries.txt and NAME.references.txt beside NAME.npy are read "
            "automatically.",
            is_common=True,
        ),
    ] = None
    qrels: Annotated[
        JudgmentData,
        Input(perhaps=True),
        Doc(
            "Judgments instead of labels: JSON (query -> references, by id or position), "
            "judgments in any format, or diagonal."
        ),
    ] = None
    metric: Similarity = None
    item_ids: Annotated[
        IdData,
        Doc(
            "File or column of ids: of all images for --item-vectors, of the references for "
            "--query-vectors and the columns of --scores."
        ),
    ] = None
    query_ids: Annotated[
        IdData, Doc("File or column of query ids, for --query-vectors and the rows of --scores.")
    ] = None
    exclude_self: Annotated[bool, Doc("Leave out the item with the query's own id.")] = False
    exclude_group: Annotated[
        str | None,
        Doc(
            "Leave out references of the query's own group, or those of its instance from the "
            "same camera: group, camera, camera,group or none. [default: the convention's]"
        ),
    ] = None
    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas. P is taken at every cut-off, P@10 at one; also AP, "
            "\"AP(area='trapezoid')\", APatR (mAP@R), cmc, TP/PRED. [default: the convention's]"
        ),
    ] = None
    k: Annotated[
        CutoffNumbers,
        Doc("Cut-offs for measures that name none, separated by commas. [default: 1,5,10]"),
    ] = None
    depth: Annotated[
        int | None,
        Doc(
            "Length of a list, for its precision P_q = RR/RET and its recall R_q = RR/REL. "
            "[default: 10 under thesis, otherwise P_q and R_q are left out]"
        ),
    ] = None
    convention: Annotated[
        ConventionName,
        Doc(
            "Convention for names and rules: thesis, thesis-code, oxford, revisited-E, "
            "revisited-M, revisited-H, gldv2, market1501, torchreid, sop, vpr; rankwell for plain "
            "rules."
        ),
    ] = "rankwell"
    transforms: Annotated[
        Sequence[str] | str | None,
        Option(("--transform",), kind=list[str]),
        Doc(
            "Transform vectors or scores first; repeat it for more, in order. "
            "query-expansion(k=10, alpha=3) adds to each query its k nearest references, weighted "
            "by their cosine to the power alpha; database-augmentation(k=10, alpha=3) does so for "
            "each reference; instance-average(k=0) adds to each reference the k nearest others of "
            "its instance (0: all); whitening(dimensions=0, power=0.5) keeps the first dimensions "
            "(0: all); reciprocal(k1=20, k2=6, weight=0.3) reranks by shared neighbours; "
            "dual-softmax(temperature=T) needs its number. The other numbers are the defaults."
        ),
    ] = None
    bank: BankOption = None
    confidence: Annotated[
        list[Literal["max", "diff1"]] | Literal["max", "diff1"] | None,
        Doc(
            "Whether the scores predict which queries are answered well: adds nAUC and AURC of "
            "every measure, and AUROC, AUPRC and EP of Success, by the score of the best "
            "reference (max) or its margin over the second (diff1); repeat it for more."
        ),
    ] = None
    clusters: Annotated[
        Place | Lists | None,
        Option(takes_all=True, kind=list[str]),
        Doc(
            "Add NMI and AMI with the labels: a table with the columns image and cluster for each "
            "run (found.csv, or found.csv:group for another column), or kmeans, which clusters "
            "the vectors into as many clusters as there are instances, by the seed.",
            "Statistics",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ImageFileOptions:
    """The form of a data set of images."""

    query_images: Annotated[
        str | None,
        Input(),
        Doc(
            "Folder of the queries, beside that of the references; if it is inside that folder, "
            "its images are queries only.",
            is_common=True,
        ),
    ] = None
    root: Annotated[
        str | None, Input(), Doc("Folder of the images listed in a table or a JSON file.")
    ] = None
    pattern: Annotated[
        str | None, Doc('Pattern of file names, such as "{instance}_{camera}_*.jpg".', "Input")
    ] = None

    def read(self, place: str) -> Images:
        """The data set of a place."""
        return read_images(place, queries=self.query_images, root=self.root, pattern=self.pattern)


@dataclass(frozen=True, kw_only=True)
class ImageSetOptions(ImageFileOptions):
    """The form of a data set of images, and which of them show nothing."""

    contentless_images: Annotated[
        str | None,
        Doc(
            'Images that show nothing to recognise, by a pattern of their ids, such as "*wall*".',
            "Input",
        ),
    ] = None

    def read(self, place: str) -> Images:
        """The data set of a place."""
        return mark_contentless(super().read(place), self.contentless_images)


@dataclass(frozen=True, kw_only=True)
class ImageSystemOptions(NetworkSettings):
    """A system that computes a run from the images: an encoder or local features."""

    encoder: Annotated[
        str | None,
        Input(perhaps=True),
        Doc(
            "Model that encodes the images. It is resnet152-im:FILE.onnx, alexnet-im:FILE.onnx, "
            "gordo:FILE.onnx, any FILE.onnx, torch:./FILE.py:OBJECT, ./FILE.py:OBJECT, a "
            "sentence-transformers model, or, without a model, colour-histogram, small-grey or "
            "colours-and-shapes; FILE.toml names one with its settings; NAME=MODEL names the run.",
            is_common=True,
        ),
    ] = None
    local_features: LocalFeaturesText = None
    executor: MatchExecutor = None
    cache: ImageCache = None


class InstanceRules:
    """Every rule in force: the user's choice, else that of the convention. Where positives are
    given, queries without a label are not absent.

    options: the user's choices.
    by_id: whether images are known, so that two images of one id are the same.
    convention: the convention whose names and units the measures have.
    reading: the options of the convention.
    exclude: kinds of references that are removed from every ranking, in the order of `Excluded`.
    contentless, absent: whether contentless images, and queries of absent instances, are left out
        beforehand.
    ties: the tie rule.
    no_relevant: the treatment of queries without a relevant reference.
    has_named: whether TP/PRED is among the measures.
    takes_cutoffs: whether any other measure needs a cut-off and names none.
    measures: the other measures, each once.

    Raises UnknownName and BadUsage.
    """

    def __init__(self, options: ImageOptions, *, by_id: bool) -> None:
        self.convention = find_convention(options.convention, "images")
        self.reading = self.convention.rules_of("images", InstanceConvention(exclude=("self",)))
        self.exclude: tuple[Excluded, ...] = self._excluded(options, by_id=by_id)
        self.contentless: Switch = self.reading.contentless
        self.absent: Switch = "keep" if options.qrels is not None else self.reading.absent
        tie_rule: MatrixTies | None = next((rule for rule in _TIES if rule == options.ties), None)
        if tie_rule is None and options.ties is not None:
            raise UnknownName(f"unknown tie rule {options.ties!r}; {suggest(options.ties, _TIES)}")
        self.ties: MatrixTies = tie_rule or self.reading.ties
        self.no_relevant: NoRelevantRule = options.no_relevant or self.convention.no_relevant
        self._read_measures(options)

    def _excluded(self, options: ImageOptions, *, by_id: bool) -> tuple[Excluded, ...]:
        """The kinds of references that are left out. Raises BadUsage, UnknownName."""
        exclusions, rules = get_args(Excluded), set(self.reading.exclude)
        if options.exclude_self:
            rules |= {"self"}
        if options.exclude_group is not None:
            words = set(options.exclude_group.replace(",", " ").split())
            if words != {"none"}:
                for word in words - {"camera", "group"}:
                    raise UnknownName(
                        f"{flag('--exclude-group', word)}: "
                        f"{suggest(word, ('camera', 'group', 'none'))}"
                    )
            rules = rules & {"self"} | (words - {"none"})
        is_chosen = bool(options.exclude_self or options.exclude_group)
        if rules and is_chosen and not by_id:
            raise BadUsage(
                f"{flag('--exclude-self', True)} and {flag('--exclude-group')} need to know which "
                "image is which; name the data set of images."
            )
        return tuple(rule for rule in exclusions if by_id and rule in rules)

    def _read_measures(self, options: ImageOptions) -> None:
        convention, names = self.convention, measure_names(options.measures)
        ks = CUTOFFS if options.k is None else cutoffs(options.k)
        texts = convention.defaults if names is None else names
        texts = [text for text in texts if text != NAMED]
        self.has_named = self.reading.labels if names is None else NAMED in names
        spelled = [at_each_cutoff(text, ks, convention.words) for text in texts]
        self.takes_cutoffs = spelled != [[text] for text in texts]
        measures = choose_measures([*chain.from_iterable(spelled)], convention) if spelled else ()
        check_views((labelled.measure for labelled in measures), JudgedRankings)
        depth = options.depth
        if depth is None and names is None:
            depth = self.reading.cut
        if depth is not None:
            if depth < 1:
                raise BadUsage(f"{flag('--depth', depth)}; a list has one place or more.")
            list_measures = ("P_q", f"P(denom='retrieved')@{depth}"), ("R_q", f"R@{depth}")
            measures += tuple(
                LabelledMeasure(parse_measure(text), label if "P_q" in convention.words else text)
                for label, text in list_measures
            )
        if not measures:
            raise BadUsage(f"name a measure of rankings beside {NAMED}, such as P@1.")
        self.measures = tuple({str(labelled.measure): labelled for labelled in measures}.values())

    def filtered(self, images: Images) -> FilteredImages:
        """The images that take part."""
        return filter_images(
            images,
            contentless=self.contentless,
            absent=self.absent,
            junk_label=self.reading.junk_label,
        )
