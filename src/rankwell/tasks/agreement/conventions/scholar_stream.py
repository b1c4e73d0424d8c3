"""Scholar Stream: a paper recommender whose small models are judged by the neighbours that ada-002 finds."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.agreement.conventions import AgreementConvention

convention(
    Convention(
        name="scholar-stream",
        title="Scholar Stream's evaluation against a reference model",
        source="Scholar Stream 2025, research-paper-recommendation-service, scripts/evaluate_vs_ada.py",
        ties="input",
        words={"Recall": "P", "NDCG": "nDCG(dcg='binary-log2')", "MRR": "RR", "MAP": "AP(denom='found')"},
        defaults=tuple(f"{word}@{k}" for k in (1, 3, 5, 10) for word in ("Recall", "NDCG", "MRR", "MAP")),
        population_sd=True,
        tasks={"agreement": AgreementConvention(gold_depth="cut")},
        notes=(
            "Relevant at k are the reference's first k items, so that points of a curve over k answer different questions.",
            "MAP divides by the number of hits, not of relevant items; ± is the population standard deviation.",
        ),
    )
)
