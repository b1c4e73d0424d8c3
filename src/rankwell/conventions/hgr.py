"""HGR: text-video retrieval by the rank of the best positive."""

from rankwell.conventions import Convention, DirectionRules, convention

HGR = convention(
    Convention(
        name="hgr",
        title="HGR: fine-grained video-text retrieval",
        source="Chen and others 2020, Fine-grained video-text retrieval with hierarchical graph reasoning; hgr_v2t, eval_q2m",
        ties="input",
        no_relevant="empty",
        words={"R": "Success"},
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        t2v=DirectionRules(ties="input"),
        v2t=DirectionRules(ties="input"),
        figures=("rsum",),
        notes=(
            "R@K is a hit of the best positive, not the share of positives found; MedR and MnR are of the best positive too.",
        ),
        rule_notes={
            "ties": (
                "The source's unstable sort of ties cannot be reproduced: here the lower position in the gallery comes first.",
            ),
            "no_relevant": (
                "A query without positives misses at every K and has the rank n + 1, n being the size of the gallery.",
            ),
        },
    )
)
