"""CLIP4Clip with one caption per video: every place of a tie is a query of its own."""

from rankwell.conventions import Convention, DirectionRules, convention

CLIP4CLIP = convention(
    Convention(
        name="clip4clip",
        title="CLIP4Clip, one caption per video",
        source="Luo and others 2021, CLIP4Clip: an empirical study of CLIP for end to end video clip retrieval; metrics.py",
        ties="input",
        no_relevant="error",
        words={"R": "Success", "MedianR": "MedR", "MR": "MedR", "MeanR": "MnR"},
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        t2v=DirectionRules(ties="multiplied"),
        v2t=DirectionRules(ties="multiplied", protocol="among-videos"),
        figures=("rsum",),
        rule_notes={"no_relevant": ("The source takes the diagonal for the positives; a query without any cannot occur in it.",)},
    )
)
