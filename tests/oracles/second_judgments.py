"""Measures of items with two grades: item -> (relevance, second grade or None)."""

Pairs = dict[str, tuple[float, float | None]]


def uBpref(ranking: list[str], grades: Pairs, *, rel: float = 1, factor: float = 1) -> float:
    """Bpref whose terms are multiplied by the second grade; source: trectools 0.0.50,
    get_ubpref.
    """
    judged = {item: grade for item, (grade, _) in grades.items()}
    relevant = sum(grade >= rel for grade in judged.values())
    other = len(judged) - relevant
    total, above = 0.0, 0
    for item in ranking:
        if item not in judged:
            continue
        if judged[item] < rel:
            above += 1
            continue
        term = 1 - min(above, relevant) / min(other, relevant) if above else 1.0
        total += term * factor * max(grades[item][1] or 0.0, 0.0)
    return total / relevant if relevant else 0.0
