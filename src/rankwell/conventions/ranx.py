"""ranx: the comparison library's words and rules."""

from rankwell.conventions import Convention, convention

RANX = convention(
    Convention(
        name="ranx",
        title="ranx 0.3.21",
        source="Bassani 2022, ranx: a blazing-fast Python library for ranking evaluation, comparison, and fusion",
        ties="input",
        words={
            "hits": "NumRet(rel=1)",
            "hit_rate": "Success",
            "precision": "P",
            "recall": "R",
            "f1": "F",
            "r-precision": "Rprec",
            "mrr": "RR",
            "map": "AP",
            "ndcg": "nDCG",
            "ndcg_burges": "nDCG(dcg='exp-log2')",
            "dcg": "DCG",
            "dcg_burges": "DCG(dcg='exp-log2')",
            # ranx writes the persistence of RBP where others write a cut-off.
            **{f"rbp.{percent}": f"RBP(p={percent / 100})" for percent in range(5, 100, 5)},
        },
        averaged=("NumRet",),
        defaults=("ndcg@10", "map@100", "mrr@10", "recall@100", "precision@10", "hit_rate@10"),
        notes=(
            "ranx refuses a run that lacks a judged query, unless it is made comparable: here such a query counts as empty.",
            "ranx truncates fractional grades to integers; here they stay as they are.",
            "ranx sorts ties with an unstable sort, which cannot be reproduced: here ties keep the order of the input.",
            "ranx without a cut-off divides precision by the number retrieved: that is SetP here.",
        ),
    )
)
