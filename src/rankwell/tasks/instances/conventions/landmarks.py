"""Buildings, landmarks and places: Oxford and Paris with their revision, Google Landmarks v2, place recognition."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.instances.conventions import InstanceConvention, Level

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
