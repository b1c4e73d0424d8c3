"""Torchreid and fast-reid: same person and camera taken out, plain average precision."""

from rankwell.conventions import Convention, InstanceReading, convention

TORCHREID = convention(
    Convention(
        name="torchreid",
        title="Torchreid's Market-1501 protocol",
        source="Zhou and Xiang 2019, Torchreid: a library for deep learning person re-identification in Pytorch; metrics/rank.py",
        ties="input",
        no_relevant="skip",
        words={"CMC": "Success", "Rank": "Success", "mAP": "AP", "AP": "AP"},
        defaults=("mAP", "CMC@1", "CMC@5", "CMC@10", "CMC@20"),
        instances=InstanceReading(ties="input", exclude=("camera",), junk_label="-1"),
        notes=("mAP is plain: above that of the original protocol (market1501) unless all right references come first.",),
    )
)
