"""rankwell's own convention: ir_measures' names, every query of the truth counts, ties by id as trec_eval breaks them."""

from rankwell.conventions import Convention, convention

RANKWELL = convention(
    Convention(
        name="rankwell",
        title="the default: names of ir_measures, trec_eval's tie rule, every query of the truth counts",
        source="docs/architecture.md",
        defaults=("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10"),
    )
)
