"""Metric learning on CUB, Cars and Stanford Online Products: Recall@K is a hit rate, the query itself taken out."""

from rankwell.conventions import Convention, InstanceReading, convention

SOP = convention(
    Convention(
        name="sop",
        title="Recall@K of metric learning (CUB-200, Cars-196, Stanford Online Products)",
        source="Song and others 2016, Deep metric learning via lifted structured feature embedding",
        ties="input",
        words={"Recall": "Success", "R": "Success"},
        defaults=("Recall@1", "Recall@10", "Recall@100", "Recall@1000"),
        unit="percent",
        instances=InstanceReading(ties="input", exclude=("self",)),
        notes=(
            "Recall@K is a hit rate: 1 where any of the first K is right, however many are.",
            "The source takes out the first neighbour by its place, which may be another picture; here the query goes by its id.",
        ),
    )
)
