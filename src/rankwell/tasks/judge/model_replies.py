"""The replies of models in STUDY/models/NAME.jsonl: one line per reply, appended and flushed to the
disk; read back checked.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.io.line_files import append_rows, records_in, rows_in
from rankwell.store import is_draft
from rankwell.tasks.judge.folder import Pair, Study

MODELS = "models"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class ModelReply(NamedTuple):
    """A model's reply for one item.

    time: time of arrival in UTC, as ISO 8601.
    model: name of the model.
    prompt: digest of the prompt; empty for a function.
    parameters: everything else that decides the reply.
    query, item: ids of the query and the item.
    status: `grade`, or `invalid` where the reply does not hold exactly one grade of the scale.
    grade: the grade; None where the reply is invalid.
    flagged: whether the document looks as if it dictated a grade.
    seconds: time that the reply took.
    text: text of the reply.
    """

    time: str
    model: str
    prompt: str
    parameters: Mapping[str, Any]
    query: str
    item: str
    status: str
    grade: float | None
    flagged: bool
    seconds: float
    text: str

    @property
    def pair(self) -> Pair:
        """Query and item."""
        return self.query, self.item

    @property
    def settings(self) -> str:
        """All that decides a reply, as a text."""
        return settings_of(self.prompt, self.parameters)


def settings_of(prompt: str, parameters: Mapping[str, Any]) -> str:
    """All that decides a reply, as a text."""
    return json.dumps([prompt, parameters], sort_keys=True)


class ModelGrades(NamedTuple):
    """The replies of one model for the pool, under the settings of its last reply.

    model: name of the model.
    prompt: digest of the prompt; empty for a function.
    grade: (items,) grades; NaN without a valid grade.
    replied: (items,) whether there is a reply, valid or not.
    n_invalid: number of replies without a valid grade.
    n_flagged: number of replies to documents that look as if they dictated a grade.
    n_unused: number of replies under other settings, or replaced by later ones.
    """

    model: str
    prompt: str
    grade: Floats
    replied: Bools
    n_invalid: int
    n_flagged: int
    n_unused: int


def replies_of(study: Study, model: str) -> Path:
    """The file of a model's replies; a name that is not a file's gets a digest, so that no two
    models share one.
    """
    safe = _UNSAFE.sub("-", model).strip(".-")[:80] or "model"
    if safe != model:
        safe += "-" + hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return study.folder / MODELS / f"{safe}.jsonl"


def read_replies(study: Study, model: str) -> list[ModelReply]:
    """The replies of a model so far; a torn last line is left out. Raises BadInput, naming file and
    line, for any other line.
    """
    path = replies_of(study, model)
    replies = records_in(
        path, "a reply", lambda row: ModelReply(**row), "restore the file from a copy"
    )
    for number, reply in enumerate(replies, 1):
        is_valid = reply.grade is None if reply.status == "invalid" else study.is_grade(reply.grade)
        if reply.model != model or not is_valid:
            raise BadInput(
                f"{path}:{number}: {shown(reply.grade)} is not a reply of {model} on the "
                "scale; remove the line."
            )
    return replies


def known_models(study: Study) -> list[str]:
    """The names of the models that have replied."""
    names = set[str]()
    for path in (study.folder / MODELS).glob("*.jsonl"):
        if path.stat().st_size and not is_draft(path):
            rows = [row for _, row in rows_in(path)[0] if isinstance(row, dict)]
            names.add(str(rows[0].get("model")) if rows else path.stem)
    return sorted(names)


def append_reply(study: Study, reply: ModelReply) -> None:
    """Appends a reply and returns when it is on the disk; a torn last line goes first. Raises
    OSError.
    """
    path = replies_of(study, reply.model)
    path.parent.mkdir(exist_ok=True)
    append_rows(path, [reply._asdict()])


def model_grades(study: Study, model: str) -> ModelGrades:
    """The grades of a model for the pool. Raises BadUsage where it has no reply."""
    replies = read_replies(study, model)
    if not replies:
        models = known_models(study)
        have = f"; there are replies of {', '.join(models)}" if models else ""
        raise BadUsage(
            f"--model {shown(model)}: it has no replies{have}. Ask it with `rankwell judge llm`."
        )
    current = {reply.pair: reply for reply in replies if reply.settings == replies[-1].settings}
    replies_of_rows = list(map(current.get, study.pairs(np.arange(len(study.pool.item)))))
    grades = [reply.grade if reply else None for reply in replies_of_rows]
    return ModelGrades(
        model,
        replies[-1].prompt,
        np.array(grades, dtype=np.float64),
        np.array([reply is not None for reply in replies_of_rows], dtype=np.bool_),
        n_invalid=sum(reply.grade is None for reply in current.values()),
        n_flagged=sum(reply.flagged for reply in current.values()),
        n_unused=len(replies) - len(current),
    )
