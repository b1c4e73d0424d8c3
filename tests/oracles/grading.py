"""What every oracle asks of one item: is it judged, what is its grade, is it relevant."""

Ranking = list[str]
Grades = dict[str, float]


def grade_of(item: str, grades: Grades) -> float | None:
    """The grade of a judged item, None if unjudged."""
    return grades.get(item)


def worth_of(item: str, grades: Grades) -> float | None:
    """The grade of an item that may be worth something, None if unjudged or below 0."""
    grade = grades.get(item)
    return None if grade is None or grade < 0 else grade


def is_relevant(item: str, grades: Grades, rel: float) -> bool:
    """Whether the item is judged with a grade of at least `rel`."""
    grade = worth_of(item, grades)
    return grade is not None and grade >= rel


def n_relevant(grades: Grades, rel: float) -> int:
    """R: how many judged items reach the grade `rel`, retrieved or not."""
    count = 0
    for item in grades:
        if is_relevant(item, grades, rel):
            count += 1
    return count


def hits(ranking: Ranking, grades: Grades, rel: float) -> int:
    """How many items of the ranking are relevant."""
    count = 0
    for item in ranking:
        if is_relevant(item, grades, rel):
            count += 1
    return count


def shown(ranking: Ranking, grades: Grades, judged_only: bool) -> Ranking:
    """The ranking a measure looks at: with `judged_only` (trec_eval -J) unjudged items leave before
    any cut.
    """
    if not judged_only:
        return ranking
    return [item for item in ranking if grade_of(item, grades) is not None]
