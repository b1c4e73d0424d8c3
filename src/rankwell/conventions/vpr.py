"""Visual place recognition: recall@N is a hit rate, a query without a right reference a miss."""

from rankwell.conventions import Convention, InstanceReading, convention

VPR = convention(
    Convention(
        name="vpr",
        title="visual place recognition, recall@N",
        source="Arandjelović and others 2016, NetVLAD: CNN architecture for weakly supervised place recognition",
        ties="input",
        words={"recall": "Success", "R": "Success"},
        defaults=("recall@1", "recall@5", "recall@10", "recall@20"),
        unit="percent",
        instances=InstanceReading(ties="input"),
        notes=(
            "A query without a right reference is a miss and stays in the divisor; VPR_Tutorial drops it (--no-relevant skip).",
        ),
    )
)
