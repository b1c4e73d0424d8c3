"""Frozen in Time: MMT's figures with ties broken in favour of the positive from text to video."""

from rankwell.conventions import Convention, DirectionRules, convention

FROZEN = convention(
    Convention(
        name="frozen",
        title="Frozen in Time",
        source="Bain and others 2021, Frozen in time: a joint video and image encoder for end-to-end retrieval",
        ties="input",
        no_relevant="skip",
        words={"R": "Success", "MeanR": "MnR"},
        defaults=("R@1", "R@5", "R@10", "R@50", "MedR", "MnR"),
        unit="percent",
        t2v=DirectionRules(ties="optimistic"),
        v2t=DirectionRules(ties="averaged"),
        figures=("rsum", "gmean"),
        rule_notes={
            "ties": ("Ties are broken in the positive's favour from text to video, and averaged from video to text.",),
            "no_relevant": ("A video without captions has an infinite rank in the source; here it is left out and counted.",),
        },
    )
)
