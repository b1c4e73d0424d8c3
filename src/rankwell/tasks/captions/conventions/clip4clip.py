"""CLIP4Clip: with one caption per video, and with several."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.captions.conventions import CaptionConvention

_SOURCE = "Luo and others 2021, CLIP4Clip: an empirical study of CLIP for end to end video clip retrieval; metrics.py"
_WORDS = {"R": "Success", "MedianR": "MedR", "MR": "MedR", "MeanR": "MnR"}

# CLIP4Clip with one caption per video: every place of a tie is a query of its own.
convention(
    Convention(
        name="clip4clip",
        title="CLIP4Clip, one caption per video",
        source=_SOURCE,
        ties="input",
        no_relevant="error",
        words=_WORDS,
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        tasks={"captions": CaptionConvention("multiplied", "multiplied", ("rsum",), protocol="among-videos")},
        rule_notes={"no_relevant": ("The source takes the diagonal for the positives; a query without any cannot occur in it.",)},
    )
)

# CLIP4Clip with several captions per video: lower median one way, captions collapsed the other.
convention(
    Convention(
        name="clip4clip-multi",
        title="CLIP4Clip, several captions per video",
        source=_SOURCE,
        ties="input",
        no_relevant="skip",
        words=_WORDS,
        words_of_parts={"t2v": {"MedR": "MedRLow", "MedianR": "MedRLow", "MR": "MedRLow"}},
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        tasks={"captions": CaptionConvention("input", "multiplied", ("rsum",), protocol="among-videos")},
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
