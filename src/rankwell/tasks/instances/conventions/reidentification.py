"""Person re-identification: Market-1501 and Torchreid."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.instances.conventions import InstanceConvention

# Market-1501 as its authors evaluate: same person and camera taken out, average precision by the trapezoid rule.
convention(
    Convention(
        name="market1501",
        title="Market-1501, the original protocol",
        source="Zheng and others 2015, Scalable person re-identification: a benchmark",
        ties="input",
        words={"CMC": "Success", "Rank": "Success", "mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')"},
        defaults=("CMC@1", "CMC@5", "CMC@10", "mAP"),
        tasks={"instances": InstanceConvention(ties="input-desc", exclude=("camera",), junk_label="-1")},
        notes=("A query without a right reference counts as 0, as the source divides by all queries.",),
    )
)

# Torchreid and fast-reid: same person and camera taken out, plain average precision.
convention(
    Convention(
        name="torchreid",
        title="Torchreid's Market-1501 protocol",
        source="Zhou and Xiang 2019, Torchreid: a library for deep learning person re-identification in Pytorch; metrics/rank.py",
        ties="input",
        no_relevant="skip",
        words={"CMC": "Success", "Rank": "Success", "mAP": "AP", "AP": "AP"},
        defaults=("mAP", "CMC@1", "CMC@5", "CMC@10", "CMC@20"),
        tasks={"instances": InstanceConvention(ties="input", exclude=("camera",), junk_label="-1")},
        notes=("mAP is plain: above that of the original protocol (market1501) unless all right references come first.",),
    )
)
