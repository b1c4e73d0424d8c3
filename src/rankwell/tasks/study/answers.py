"""The answers of all judges to the items of a pool, one grade for each item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankwell.core.tables import Bools, Floats
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.journal import JournalLine, last_answers, line_of


@dataclass(frozen=True, eq=False)
class StudyAnswers:
    """The answers to the pool: (items,) grade, NaN where there is none; answered, also without a
    grade. judges: their names.
    """

    grade: Floats
    answered: Bools
    judges: tuple[str, ...]
    guidelines: tuple[str, ...]

    @classmethod
    def of(
        cls, study: Study, lines: Sequence[JournalLine], grade_by: str = "median"
    ) -> "StudyAnswers":
        """The answers of journals. Raises BadInput for an answer to an item outside the pool,
        BadUsage for an unknown judge.
        """
        answers = last_answers(lines)
        used = [line for own in answers.values() for line in own.values()]
        judges = tuple(sorted({line.judge for line in used}))
        if grade_by not in ("median", "first", *judges):
            raise BadUsage(
                f"--grade-by {shown(grade_by)}: expected median, first, or a judge: "
                f"{', '.join(judges) or 'none so far'}."
            )
        pool, names = study.pool, study.queries
        grade, answered = np.full(len(pool.item), np.nan), np.zeros(len(pool.item), dtype=np.bool_)
        judged = {query for query, _ in answers}
        rows = np.flatnonzero(
            np.array([name in judged for name in names], dtype=np.bool_)[pool.query]
        )
        for row, query, item in zip(
            rows.tolist(), pool.query[rows].tolist(), pool.item[rows].tolist(), strict=True
        ):
            own = answers.pop((names[query], item), None)
            if own:
                answered[row], grade[row] = (
                    True,
                    _grade({judge: line.grade for judge, line in own.items()}, grade_by),
                )
        if answers:
            query, item = min(answers)
            raise outside_pool(study, query, item)
        return cls(grade, answered, judges, tuple(sorted({line.guideline for line in used})))


def outside_pool(study: Study, query: str, item: str) -> BadInput:
    """The error for a judged item that was never pooled."""
    what = (
        f"item {shown(item)} of query {shown(query)} is judged, but not in the pool; remove the "
        "line."
    )
    return BadInput(f"{line_of(study, query, item)}: {what}")


def _grade(grades: Mapping[str, float | None], grade_by: str) -> float:
    """The grade that counts of several judges' ones; NaN where none has one."""
    if grade_by not in ("median", "first"):
        found = grades.get(grade_by)
        return np.nan if found is None else found
    known = [grade for _, grade in sorted(grades.items()) if grade is not None]
    if not known:
        return np.nan
    return known[0] if grade_by == "first" else sorted(known)[(len(known) - 1) // 2]
