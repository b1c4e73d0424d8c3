"""CLIP4Clip with several captions per video: lower median one way, captions collapsed the other."""

from rankwell.conventions import Convention, DirectionRules, convention

CLIP4CLIP_MULTI = convention(
    Convention(
        name="clip4clip-multi",
        title="CLIP4Clip, several captions per video",
        source="Luo and others 2021, CLIP4Clip: an empirical study of CLIP for end to end video clip retrieval; metrics.py",
        ties="input",
        no_relevant="skip",
        words={"R": "Success", "MedianR": "MedR", "MR": "MedR", "MeanR": "MnR"},
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        t2v=DirectionRules(ties="input", words={"MedR": "MedRLow", "MedianR": "MedRLow", "MR": "MedRLow"}),
        v2t=DirectionRules(ties="multiplied", protocol="among-videos"),
        figures=("rsum",),
        notes=("From text to video the median is the lower of the two middle ranks, from video to text their mean.",),
        rule_notes={
            "protocol": (
                "From video to text a video's captions are collapsed to the highest score and the video is ranked among videos.",
            ),
            "ties": (
                "The source's unstable sort of ties from text to video: here the lower position in the gallery comes first.",
            ),
        },
    )
)
