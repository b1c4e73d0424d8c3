"""Google Landmarks v2: mAP@100 over at most a hundred right references."""

from rankwell.conventions import Convention, InstanceReading, convention

GLDV2 = convention(
    Convention(
        name="gldv2",
        title="Google Landmarks Dataset v2, retrieval",
        source="Weyand and others 2020, Google Landmarks Dataset v2: a large-scale benchmark for instance-level recognition",
        ties="input",
        no_relevant="error",
        words={"mAP": "AP(denom='min')", "AP": "AP(denom='min')"},
        defaults=("mAP@100",),
        instances=InstanceReading(ties="input"),
        notes=(
            "Duplicates in a submitted list keep their rank in the source; a matrix has none.",
            "This is the retrieval task. GAP, of the recognition task, orders the best references of all queries by score: "
            "it has no value per query, and is not computed.",
        ),
    )
)
