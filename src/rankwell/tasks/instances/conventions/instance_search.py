"""Instance search on CLICIDE and GaRoFou, by the text of its source and by its code; metric learning."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.instances.conventions import InstanceConvention

# Instance search as the source's text defines it: the best reference names the instance, and plain MAP beside it.
convention(
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
        tasks={"instances": InstanceConvention(exclude=("self",), absent="filter", cut=10, labels=True)},
        rule_notes={
            "AP": (
                "MAP is plain, as the text defines it; the source's published code has the trapezoid rule of the Oxford "
                "buildings (MAP-trapezoid, the convention thesis-code).",
            ),
        },
    )
)

# Instance search as the source's published code computes it: MAP by the trapezoid rule.
convention(
    Convention(
        name="thesis-code",
        title="instance search on CLICIDE and GaRoFou, as its published code computes it",
        source="Instance-Search, utils/metrics.py, 2018, by the authors of the chapter on instance search",
        ties="input",
        no_relevant="skip",
        words={"MP": "P", "MAP": "AP(area='trapezoid')"},
        defaults=("MP@1", "MAP"),
        unit="percent",
        tasks={"instances": InstanceConvention(ties="input", exclude=("self",), absent="filter", labels=True)},
        notes=(
            "The source sorts without a stated order of ties for MAP; here the first in the table comes first, as for MP@1.",
            "Queries without a right reference are left out of both; the source's MP@1 would count them as wrong.",
        ),
    )
)

# Metric learning on CUB, Cars and Stanford Online Products: Recall@K is a hit rate, the query itself taken out.
convention(
    Convention(
        name="sop",
        title="Recall@K of metric learning (CUB-200, Cars-196, Stanford Online Products)",
        source="Song and others 2016, Deep metric learning via lifted structured feature embedding",
        ties="input",
        words={"Recall": "Success", "R": "Success"},
        defaults=("Recall@1", "Recall@10", "Recall@100", "Recall@1000"),
        unit="percent",
        tasks={"instances": InstanceConvention(ties="input", exclude=("self",))},
        notes=(
            "Recall@K is a hit rate: 1 where any of the first K is right, however many are.",
            "The source takes out the first neighbour by its place, which may be another picture; here the query goes by its id.",
        ),
    )
)
