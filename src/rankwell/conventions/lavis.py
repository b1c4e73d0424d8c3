"""LAVIS: image-text retrieval, recalls and their means only."""

from rankwell.conventions import Convention, DirectionRules, convention

LAVIS = convention(
    Convention(
        name="lavis",
        title="LAVIS image-text retrieval",
        source="Li and others 2023, LAVIS: a one-stop library for language-vision intelligence; itm_eval",
        ties="input",
        no_relevant="empty",
        words={"R": "Success"},
        defaults=("R@1", "R@5", "R@10"),
        unit="percent",
        t2v=DirectionRules(ties="input-desc"),
        v2t=DirectionRules(ties="input-desc"),
        figures=("r_mean",),
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
