"""MMT and Collaborative Experts: ties are averaged, missing captions masked."""

from rankwell.conventions import Convention, DirectionRules, convention

MMT = convention(
    Convention(
        name="mmt",
        title="Multi-modal Transformer and Collaborative Experts",
        source="Gabeur and others 2020, Multi-modal transformer for video retrieval; Liu and others 2019, Use what you have",
        ties="input",
        no_relevant="skip",
        words={"R": "Success", "MeanR": "MnR"},
        defaults=("R@1", "R@5", "R@10", "R@50", "MedR", "MnR"),
        unit="percent",
        t2v=DirectionRules(ties="averaged"),
        v2t=DirectionRules(ties="averaged"),
        figures=("rsum", "gmean"),
        rule_notes={
            "no_relevant": ("A video without captions has an infinite rank in the source; here it is left out and counted.",)
        },
    )
)
