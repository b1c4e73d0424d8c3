"""VSE++: image-caption retrieval with a floored median rank."""

from rankwell.conventions import Convention, DirectionRules, convention

VSE = convention(
    Convention(
        name="vse",
        title="VSE++ and its successors",
        source="Faghri and others 2018, VSE++: improving visual-semantic embeddings with hard negatives; vsepp, evaluation.py",
        ties="input",
        no_relevant="error",
        words={"R": "Success", "MedR": "MedRFloor", "MeanR": "MnR"},
        defaults=("R@1", "R@5", "R@10", "MedR", "MnR"),
        unit="percent",
        t2v=DirectionRules(ties="input-desc"),
        v2t=DirectionRules(ties="input-desc"),
        figures=("rsum", "r_mean"),
        notes=(
            "The median rank is rounded down to an integer.",
            "Its mean over five folds prints the mean rsum times six; here rsum is the sum of six recalls in every case.",
        ),
        rule_notes={
            "ties": (
                "The source's reversed unstable sort cannot be reproduced: here the higher position in the gallery comes first.",
            )
        },
    )
)
