"""The judgments of a study, read from its folder: `rankwell convert STUDY qrels.txt`."""

import re
from collections.abc import Sequence

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.tables import Floats, Judgments, columns_of
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.io.formats import Request, file_format
from rankwell.store import Head, Source
from rankwell.tasks.judge.findings import grades_of_model, grades_of_study
from rankwell.tasks.judge.folder import (
    STUDY,
    Study,
    StudyAnswers,
    known_models,
    model_grades,
    read_journals,
    read_study,
)


def _sniff(head: Head) -> float:
    return 0.95 * bool(re.match(r'\{\s*"study"\s*:', head.text))


@file_format("study", "judgments", sniff=_sniff, has_parts=True, folder=STUDY)
def read_judgments(source: Source, request: Request) -> Judgments:
    """The grades that people gave: the median of several judges, or those of `STUDY:first` or
    `STUDY:JUDGE`.

    Those of a model only where the request allows it and no judge has its name: of `STUDY:MODEL`,
    or of `STUDY:model`, the only one.
    Items without a grade are left out and counted in a note, which also says how the items were
    chosen.
    Raises BadInput for a study.json outside the folder of a study, NothingToEvaluate where nothing
    is graded.
    """
    if source.path is None:
        raise BadInput(
            f"{source.name} describes a study, whose judgments are in its folder; name the folder."
        )
    study = read_study(source.path.parent)
    journals = read_journals(study)
    judges = sorted({line.judge for line in journals.lines if line.is_answer})
    part = request.part or "median"
    if part not in ("median", "first", *judges):
        models = known_models(study) if request.model_grades else []
        if part in models or (part == "model" and request.model_grades):
            return _of_model(study, part, models, request)
        known = ", ".join([*judges, *models]) or "none so far"
        who = "no judge or model" if request.model_grades else "no judge"
        raise BadUsage(f"{study.folder}:{part}: {who} has this name; known are {known}.")
    answers = StudyAnswers.of(study, journals.lines, part)
    n_graded = int(np.count_nonzero(~np.isnan(answers.grade)))
    if not n_graded:
        raise NothingToEvaluate(
            f"{study.folder}: no item is graded; judge some with `rankwell judge label`."
        )
    names = judges if part in ("median", "first") else [part]
    request.findings.extend([*journals.findings, _chosen(study, answers, n_graded, names)])
    return _judgments(study, answers.grade)


def _judgments(study: Study, grades: Floats) -> Judgments:
    """The judgments of the items of a pool that have a grade."""
    rows = np.flatnonzero(~np.isnan(grades))
    queries, items = columns_of(study.pairs(rows), 2)
    return Judgments.from_rows(queries, items, grades[rows])


def _of_model(study: Study, model: str, models: Sequence[str], request: Request) -> Judgments:
    """The grades of a model, with a note. Raises BadUsage where several models replied and none is
    named.
    """
    if model not in models and len(models) != 1:
        have = (
            f"its models are {', '.join(models)}; name one, as in {study.folder}:{models[0]}"
            if models
            else "no model has replied"
        )
        raise BadUsage(f"{study.folder}: {have}.")
    model = model if model in models else models[0]
    judgments = _judgments(study, model_grades(study, model).grade)
    request.findings.append(grades_of_model(str(study.folder), len(judgments.items), model))
    return judgments


_WHOLE = "a run that was not pooled is at a disadvantage"
_MEANING = {
    "items": "they are a sample without its probabilities, which no format holds: measures on this "
    "file are biased; "
    "`rankwell judge estimate` weights them",
    "queries": f"whole queries of the pool: {_WHOLE}",
    "reading": "runs were read down to their first relevant item: the file is for RR, and for "
    "the pooled "
    "runs, only",
}


def _chosen(study: Study, answers: StudyAnswers, graded: int, judges: Sequence[str]) -> Finding:
    """The number of grades, the judges, and the measures that the grades allow."""
    unknown = int(answers.answered.sum()) - graded
    without = f"; {unknown} more are judged without a grade of theirs" if unknown else ""
    judged = (
        f"{graded} of {len(study.pool.item)} pooled items are graded by "
        f"{', '.join(judges)}{without}"
    )
    is_whole = study.design == "items" and graded == len(study.pool.item)
    meaning = _WHOLE if is_whole else _MEANING[study.design]
    return grades_of_study(str(study.folder), judged, meaning)
