"""Instance search as the source's published code computes it: MAP by the trapezoid rule."""

from rankwell.conventions import Convention, InstanceReading, convention

THESIS_CODE = convention(
    Convention(
        name="thesis-code",
        title="instance search on CLICIDE and GaRoFou, as its published code computes it",
        source="Instance-Search, utils/metrics.py, 2018, by the authors of the chapter on instance search",
        ties="input",
        no_relevant="skip",
        words={"MP": "P", "MAP": "AP(area='trapezoid')"},
        defaults=("MP@1", "MAP"),
        unit="percent",
        instances=InstanceReading(ties="input", exclude=("self",), absent="filter", labels=True),
        notes=(
            "The source sorts without a stated order of ties for MAP; here the first in the table comes first, as for MP@1.",
            "Queries without a right reference are left out of both; the source's MP@1 would count them as wrong.",
        ),
    )
)
