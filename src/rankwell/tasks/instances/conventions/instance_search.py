"""Instance search on CLICIDE and GaRoFou, metric learning, buildings, landmarks and places, and person re-identification."""

from typing import Any, get_args

from rankwell.conventions import Convention, convention
from rankwell.tasks.instances.conventions import InstanceConvention, Level

_CHAPTER = "evaluation chapter on instance search on CLICIDE and GaRoFou, 2018, with Portaz and others 2017"
_TRAPEZOID = {"mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')"}
_RANKS = {"CMC": "Success", "Rank": "Success"}


def _add(name: str, title: str, source: str, words: dict[str, str], defaults: str, own: InstanceConvention, **more: Any) -> None:
    tasks = {"instances": own}
    measures = tuple(defaults.split())
    convention(Convention(name, title, source, ties="input", words=words, defaults=measures, tasks=tasks, **more))


# The best reference names the instance, and plain MAP beside it.
_add(
    "thesis",
    "instance search on CLICIDE and GaRoFou, as the text defines it",
    _CHAPTER,
    {"MP": "P", "MAP": "AP", "MAP-trapezoid": "AP(area='trapezoid')", "P_q": "P", "R_q": "R", "CMC": "Success"},
    "MP@1 MAP MAP-trapezoid P_q@10",
    InstanceConvention(exclude=("self",), absent="filter", cut=10, labels=True),
    unit="percent",
    rule_notes={
        "AP": (
            "MAP is plain, as the text defines it; the source's published code has the trapezoid rule of the Oxford "
            "buildings (MAP-trapezoid, the convention thesis-code).",
        )
    },
)

# MAP by the trapezoid rule.
_add(
    "thesis-code",
    "instance search on CLICIDE and GaRoFou, as its published code computes it",
    "Instance-Search, utils/metrics.py, 2018, by the authors of the chapter on instance search",
    {"MP": "P", "MAP": "AP(area='trapezoid')"},
    "MP@1 MAP",
    InstanceConvention(ties="input", exclude=("self",), absent="filter", labels=True),
    no_relevant="skip",
    unit="percent",
    notes=(
        "The source sorts without a stated order of ties for MAP; here the first in the table comes first, as for MP@1.",
        "Queries without a right reference are left out of both; the source's MP@1 would count them as wrong.",
    ),
)

# Recall@K is a hit rate, the query itself taken out.
_add(
    "sop",
    "Recall@K of metric learning (CUB-200, Cars-196, Stanford Online Products)",
    "Song and others 2016, Deep metric learning via lifted structured feature embedding",
    {"Recall": "Success", "R": "Success"},
    "Recall@1 Recall@10 Recall@100 Recall@1000",
    InstanceConvention(ties="input", exclude=("self",)),
    unit="percent",
    notes=(
        "Recall@K is a hit rate: 1 where any of the first K is right, however many are.",
        "The source takes out the first neighbour by its place, which may be another picture; here the query goes by its id.",
    ),
)

# Average precision by the trapezoid rule, junk taken out.
_add(
    "oxford",
    "Oxford buildings and Paris, the classic protocol",
    "Philbin and others 2007, Object retrieval with large vocabularies and fast spatial matching; compute_ap.cpp",
    _TRAPEZOID,
    "mAP",
    InstanceConvention(ties="input"),
    no_relevant="error",
    notes=("A query among the references stays there unless the ground truth lists it as junk (--exclude self).",),
)

# Easy, medium and hard, each with what the others hold as junk.
for _level in get_args(Level):
    _add(
        f"revisited-{_level[0].upper()}",
        f"Revisited Oxford and Paris, {_level}",
        "Radenović and others 2018, Revisiting Oxford and Paris: large-scale image retrieval benchmarking; revisitop",
        {**_TRAPEZOID, "mP": "P(denom='last')"},
        "mAP mP@1 mP@5 mP@10",
        InstanceConvention(ties="input", level=_level),
        no_relevant="skip",
        unit="percent",
        notes=(
            "mP@k looks no further than the last right reference: 1, not 0.2, for two right ones at ranks 1 and 2 of 10.",
            "The source's sort leaves the order of equal scores open; here the first in the table comes first.",
        ),
    )

# mAP@100 over at most a hundred right references.
_add(
    "gldv2",
    "Google Landmarks Dataset v2, retrieval",
    "Weyand and others 2020, Google Landmarks Dataset v2: a large-scale benchmark for instance-level recognition",
    {"mAP": "AP(denom='min')", "AP": "AP(denom='min')"},
    "mAP@100",
    InstanceConvention(ties="input"),
    no_relevant="error",
    notes=(
        "Duplicates in a submitted list keep their rank in the source; a matrix has none.",
        "This is the retrieval task. GAP, of the recognition task, orders the best references of all queries by score: "
        "it has no value per query, and is not computed.",
    ),
)

# recall@N is a hit rate, a query without a right reference a miss.
_add(
    "vpr",
    "visual place recognition, recall@N",
    "Arandjelović and others 2016, NetVLAD: CNN architecture for weakly supervised place recognition",
    {"recall": "Success", "R": "Success"},
    "recall@1 recall@5 recall@10 recall@20",
    InstanceConvention(ties="input"),
    unit="percent",
    notes=("A query without a right reference is a miss and stays in the divisor; VPR_Tutorial drops it (--no-relevant skip).",),
)

# Same person and camera taken out, average precision by the trapezoid rule.
_add(
    "market1501",
    "Market-1501, the original protocol",
    "Zheng and others 2015, Scalable person re-identification: a benchmark",
    {**_RANKS, **_TRAPEZOID},
    "CMC@1 CMC@5 CMC@10 mAP",
    InstanceConvention(ties="input-desc", exclude=("camera",), junk_label="-1"),
    notes=("A query without a right reference counts as 0, as the source divides by all queries.",),
)

# The same with plain average precision; fast-reid, too.
_add(
    "torchreid",
    "Torchreid's Market-1501 protocol",
    "Zhou and Xiang 2019, Torchreid: a library for deep learning person re-identification in Pytorch; metrics/rank.py",
    {**_RANKS, "mAP": "AP", "AP": "AP"},
    "mAP CMC@1 CMC@5 CMC@10 CMC@20",
    InstanceConvention(ties="input", exclude=("camera",), junk_label="-1"),
    no_relevant="skip",
    notes=("mAP is plain: above that of the original protocol (market1501) unless all right references come first.",),
)
