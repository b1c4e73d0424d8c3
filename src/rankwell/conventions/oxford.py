"""The Oxford buildings and their successors: average precision by the trapezoid rule, junk taken out."""

from rankwell.conventions import Convention, InstanceReading, convention

OXFORD = convention(
    Convention(
        name="oxford",
        title="Oxford buildings and Paris, the classic protocol",
        source="Philbin and others 2007, Object retrieval with large vocabularies and fast spatial matching; compute_ap.cpp",
        ties="input",
        no_relevant="error",
        words={"mAP": "AP(area='trapezoid')", "AP": "AP(area='trapezoid')"},
        defaults=("mAP",),
        instances=InstanceReading(ties="input"),
        notes=("A query among the references stays there unless the ground truth lists it as junk (--exclude self).",),
    )
)
