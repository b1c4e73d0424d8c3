"""trec_eval 10: double-precision scores and rounded recall cut-offs."""

from rankwell.conventions import Convention, convention

TREC_EVAL10 = convention(
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
