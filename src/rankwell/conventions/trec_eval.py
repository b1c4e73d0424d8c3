"""trec_eval in the two versions behind published numbers."""

from rankwell.conventions import Convention, convention

# trec_eval 9.0.8: the rules behind most published numbers.
convention(
    Convention(
        name="trec_eval9",
        title="trec_eval 9.0.8, pytrec_eval and what is built on them",
        source="NIST, trec_eval 9.0.8, 2020",
        single_precision=True,
        queries="both",
        words={
            "iprec_at_recall": "IPrec(rounding='floor')",
            "IPrec": "IPrec(rounding='floor')",
            "11pt_avg": "IPrecAvg(rounding='floor')",
            "IPrecAvg": "IPrecAvg(rounding='floor')",
        },
        defaults=("map", "Rprec", "bpref", "recip_rank", "P_5", "P_10", "P_30", "ndcg_cut_10", "recall_100"),
        notes=("scores are rounded to single precision; queries that the run lacks are left out.",),
    )
)

# trec_eval 10: double-precision scores and rounded recall cut-offs.
convention(
    Convention(
        name="trec_eval10",
        title="trec_eval 10 (June 2026)",
        source="NIST, trec_eval 10.0, 2026",
        queries="both",
        words={"rbp": "RBP(p=0.9,scale='topic')", "rbp_resid": "RBPResid(p=0.9,quirk=True)"},
        defaults=("map", "Rprec", "bpref", "recip_rank", "P_5", "P_10", "P_30", "ndcg_cut_10", "recall_100"),
        notes=("trec_eval 10 stops when the run lacks a judged query; here such queries are left out and counted.",),
    )
)
