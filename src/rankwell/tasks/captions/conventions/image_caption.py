"""Image-caption retrieval: VSE++ and LAVIS."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.captions.conventions import CaptionConvention

# VSE++: image-caption retrieval with a floored median rank.
convention(
    Convention(
        name="vse",
        title="VSE++ and its successors",
        source="Faghri and others 2018, VSE++: improving visual-semantic embeddings with hard negatives; vsepp, evaluation.py",
        ties="input",
        no_relevant="error",
        words={"R": "Success", "MedR": "MedRFloor", "MeanR": "MnR"},
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        tasks={"captions": CaptionConvention("input-desc", "input-desc", ("rsum", "r_mean"))},
        notes=(
            "The median rank is rounded down to an integer.",
            "Its mean over five folds prints the mean rsum times six; here rsum is the sum of six recalls in every case.",
        ),
        rule_notes={
            "ties": (
                "The source's reversed unstable sort cannot be reproduced: here the higher position in the gallery comes first.",
            )
        },
    )
)

# LAVIS: image-text retrieval, recalls and their means only.
convention(
    Convention(
        name="lavis",
        title="LAVIS image-text retrieval",
        source="Li and others 2023, LAVIS: a one-stop library for language-vision intelligence; itm_eval",
        ties="input",
        no_relevant="empty",
        words={"R": "Success"},
        defaults=("R@1", "R@5", "R@10"),
        unit="percent",
        tasks={"captions": CaptionConvention("input-desc", "input-desc", ("r_mean",))},
        notes=(
            "Ranks are not reported.",
            "The source's agg_metrics is the mean recall of image-to-text retrieval alone, its r_mean that of both directions.",
        ),
        rule_notes={
            "ties": (
                "The source's reversed unstable sort cannot be reproduced: here the higher position in the gallery comes first.",
            ),
            "no_relevant": ("A query without positives misses at every K.",),
        },
    )
)
