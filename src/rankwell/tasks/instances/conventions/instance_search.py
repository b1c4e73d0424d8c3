"""Instance search on CLICIDE and GaRoFou, metric learning, buildings, landmarks and places, and person re-identification."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.instances.conventions import InstanceConvention, Level

# Instance search as the source's text defines it: the best reference names the instance, and plain MAP beside it.
convention(
    Convention(
        name="thesis",
        title="instance search on CLICIDE and GaRoFou, as the text defines it",
        source="evaluation chapter on instance search on CLICIDE and GaRoFou, 2018, with Portaz and others 2017",
        ties="input",
        words={"MP": "P", "MAP": "AP", "MAP-trapezoid": "AP(area='trapezoid')", "P_q": "P", "R_q": "R", "CMC": "Success"},
        defaults=("MP@1", "MAP", "MAP-trapezoid", "P_q@10"),
        unit="percent",
        tasks={"instances": InstanceConvention(exclude=("self",), absent="filter", cut=10, labels=True)},
        rule_notes={
            "AP": (
                "MAP is plain, as the text defines it; the source's published code has the trapezoid rule of the Oxford "
                "buildings (MAP-trapezoid, the convention thesis-code).",
            )
        },
    )
)

# Instance search as the source's published code computes it: MAP by the trapezoid rule.
convention(
    Convention(
        name="thesis-code",
        title="instance search on CLICIDE and GaRoFou, as its published code computes it",
        source="Instance-Search, utils/metrics.py, 2018, by the authors of the chapter on instance search",
        ties="input",
        no_relevant="skip",
        words={"MP": "P", "MAP": "AP(area='trapezoid')"},
        defaults=("MP@1", "MAP"),
        unit="percent",
        tasks={"instances": InstanceConvention(ties="input", exclude=("self",), absent="filter", labels=True)},
        notes=(
            "The source sorts without a stated order of ties for MAP; here the first in the table comes first, as for MP@1.",
            "Queries without a right reference are left out of both; the source's MP@1 would count them as wrong.",
        ),
    )
)

# Metric learning on CUB, Cars and Stanford Online Products: Recall@K is a hit rate, the query itself taken out.
convention(
    Convention(
        name="sop",
        title="Recall@K of metric learning (CUB-200, Cars-196, Stanford Online Products)",
        source="Song and others 2016, Deep metric learning via lifted structured feature embedding",
        ties="input",
        words={"Recall": "Success", "R": "Success"},
        defaults=("Recall@1", "Recall@10", "Recall@100", "Recall@1000"),
        unit="percent",
        tasks={"instances": InstanceConvention(ties="input", exclude=("self",))},
        notes=(
            "Recall@K is a hit rate: 1 where any of the first K is right, however many are.",
            "The source takes out the first neighbour by its place, which may be another picture; here the query goes by its id.",
        ),
    )
)

# The Oxford buildings and their successors: average precision by the trapezoid rule, junk taken out.
convention(
    Convention(
        name="oxford",
        title="Oxford buildings and Paris, the classic protocol",
        source="Philbin and others 2007, Object retrieval with large vocabularies and fast spatial matching; compute_ap.cpp",
        ties="input",
        no_relevant="error",
        words={"mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')"},
        defaults=("mAP",),
        tasks={"instances": InstanceConvention(ties="input")},
        notes=("A query among the references stays there unless the ground truth lists it as junk (--exclude self).",),
    )
)

# Revisited Oxford and Paris: easy, medium and hard, each with what the others hold as junk.
_LEVELS: dict[str, Level] = {"E": "easy", "M": "medium", "H": "hard"}

for _letter, _level in _LEVELS.items():
    convention(
        Convention(
            name=f"revisited-{_letter}",
            title=f"Revisited Oxford and Paris, {_level}",
            source="Radenović and others 2018, Revisiting Oxford and Paris: large-scale image retrieval benchmarking; revisitop",
            ties="input",
            no_relevant="skip",
            words={"mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')", "mP": "P(denom='last')"},
            defaults=("mAP", "mP@1", "mP@5", "mP@10"),
            unit="percent",
            tasks={"instances": InstanceConvention(ties="input", level=_level)},
            notes=(
                "mP@k looks no further than the last right reference: 1, not 0.2, for two right ones at ranks 1 and 2 of 10.",
                "The source's sort leaves the order of equal scores open; here the first in the table comes first.",
            ),
        )
    )

# Google Landmarks v2: mAP@100 over at most a hundred right references.
convention(
    Convention(
        name="gldv2",
        title="Google Landmarks Dataset v2, retrieval",
        source="Weyand and others 2020, Google Landmarks Dataset v2: a large-scale benchmark for instance-level recognition",
        ties="input",
        no_relevant="error",
        words={"mAP": "AP(denom='min')", "AP": "AP(denom='min')"},
        defaults=("mAP@100",),
        tasks={"instances": InstanceConvention(ties="input")},
        notes=(
            "Duplicates in a submitted list keep their rank in the source; a matrix has none.",
            "This is the retrieval task. GAP, of the recognition task, orders the best references of all queries by score: "
            "it has no value per query, and is not computed.",
        ),
    )
)

# Visual place recognition: recall@N is a hit rate, a query without a right reference a miss.
convention(
    Convention(
        name="vpr",
        title="visual place recognition, recall@N",
        source="Arandjelović and others 2016, NetVLAD: CNN architecture for weakly supervised place recognition",
        ties="input",
        words={"recall": "Success", "R": "Success"},
        defaults=("recall@1", "recall@5", "recall@10", "recall@20"),
        unit="percent",
        tasks={"instances": InstanceConvention(ties="input")},
        notes=(
            "A query without a right reference is a miss and stays in the divisor; VPR_Tutorial drops it (--no-relevant skip).",
        ),
    )
)

# Market-1501 as its authors evaluate: same person and camera taken out, average precision by the trapezoid rule.
convention(
    Convention(
        name="market1501",
        title="Market-1501, the original protocol",
        source="Zheng and others 2015, Scalable person re-identification: a benchmark",
        ties="input",
        words={"CMC": "Success", "Rank": "Success", "mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')"},
        defaults=("CMC@1", "CMC@5", "CMC@10", "mAP"),
        tasks={"instances": InstanceConvention(ties="input-desc", exclude=("camera",), junk_label="-1")},
        notes=("A query without a right reference counts as 0, as the source divides by all queries.",),
    )
)

# Torchreid and fast-reid: same person and camera taken out, plain average precision.
convention(
    Convention(
        name="torchreid",
        title="Torchreid's Market-1501 protocol",
        source="Zhou and Xiang 2019, Torchreid: a library for deep learning person re-identification in Pytorch; metrics/rank.py",
        ties="input",
        no_relevant="skip",
        words={"CMC": "Success", "Rank": "Success", "mAP": "AP", "AP": "AP"},
        defaults=("mAP", "CMC@1", "CMC@5", "CMC@10", "CMC@20"),
        tasks={"instances": InstanceConvention(ties="input", exclude=("camera",), junk_label="-1")},
        notes=("mAP is plain: above that of the original protocol (market1501) unless all right references come first.",),
    )
)
