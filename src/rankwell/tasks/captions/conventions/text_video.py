"""Text-video retrieval: HGR, MMT with Collaborative Experts, and Frozen in Time."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.captions.conventions import CaptionConvention

# HGR: text-video retrieval by the rank of the best positive.
convention(
    Convention(
        name="hgr",
        title="HGR: fine-grained video-text retrieval",
        source="Chen and others 2020, Fine-grained video-text retrieval with hierarchical graph reasoning; hgr_v2t, eval_q2m",
        ties="input",
        no_relevant="empty",
        words={"R": "Success"},
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        tasks={"captions": CaptionConvention("input", "input", ("rsum",))},
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

# MMT and Collaborative Experts: ties are averaged, missing captions masked.
_LEFT_OUT = ("A video without captions has an infinite rank in the source; here it is left out and counted.",)
_MMT = convention(
    Convention(
        name="mmt",
        title="Multi-modal Transformer and Collaborative Experts",
        source="Gabeur and others 2020, Multi-modal transformer for video retrieval; Liu and others 2019, Use what you have",
        ties="input",
        no_relevant="skip",
        words={"R": "Success", "MeanR": "MnR"},
        defaults=("R@1", "R@5", "R@10", "R@50", "MedR", "MnR"),
        unit="percent",
        tasks={"captions": CaptionConvention("averaged", "averaged", ("rsum", "gmean"))},
        rule_notes={"no_relevant": _LEFT_OUT},
    )
)

# Frozen in Time: MMT's figures with ties broken in favour of the positive from text to video.
convention(
    _MMT._replace(
        name="frozen",
        title="Frozen in Time",
        source="Bain and others 2021, Frozen in time: a joint video and image encoder for end-to-end retrieval",
        tasks={"captions": CaptionConvention("optimistic", "averaged", ("rsum", "gmean"))},
        rule_notes={
            "ties": ("Ties are broken in the positive's favour from text to video, and averaged from video to text.",),
            "no_relevant": _LEFT_OUT,
        },
    )
)
