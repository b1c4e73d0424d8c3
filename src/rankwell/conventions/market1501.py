"""Market-1501 as its authors evaluate: same person and camera taken out, average precision by the trapezoid rule."""

from rankwell.conventions import Convention, InstanceReading, convention

MARKET1501 = convention(
    Convention(
        name="market1501",
        title="Market-1501, the original protocol",
        source="Zheng and others 2015, Scalable person re-identification: a benchmark",
        ties="input",
        words={"CMC": "Success", "Rank": "Success", "mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')"},
        defaults=("CMC@1", "CMC@5", "CMC@10", "mAP"),
        instances=InstanceReading(ties="input-desc", exclude=("camera",), junk_label="-1"),
        notes=("A query without a right reference counts as 0, as the source divides by all queries.",),
    )
)
