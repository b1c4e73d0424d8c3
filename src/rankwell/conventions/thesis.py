"""Instance search as the source's text defines it: the best reference names the instance, and plain MAP beside it."""

from rankwell.conventions import Convention, InstanceReading, convention

THESIS = convention(
    Convention(
        name="thesis",
        title="instance search on CLICIDE and GaRoFou, as the text defines it",
        source="evaluation chapter on instance search on CLICIDE and GaRoFou, 2018, with Portaz and others 2017",
        ties="input",
        words={
            "MP": "P",
            "MAP": "AP",
            "MAP-trapezoid": "AP(area='trapezoid')",
            "P_q": "P",
            "R_q": "R",
            "CMC": "Success",
        },
        defaults=("MP@1", "MAP", "MAP-trapezoid", "P_q@10"),
        unit="percent",
        instances=InstanceReading(exclude=("self",), absent="filter", cut=10, labels=True),
        rule_notes={
            "AP": (
                "MAP is plain, as the text defines it; the source's published code has the trapezoid rule of the Oxford "
                "buildings (MAP-trapezoid, the convention thesis-code).",
            ),
        },
    )
)
