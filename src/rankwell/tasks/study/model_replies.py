"""The replies of models in STUDY/models/NAME.jsonl: one line per reply, appended and flushed to the
disk; read back checked.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Judgments
from rankwell.documents import parse_json
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.store import Source, is_draft
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.lines import append_to, lines_in

MODELS = "models"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class ModelReply(NamedTuple):
    """A reply to one item. grade: None without exactly one valid grade. flagged: whether the text
    looks as if it ordered a grade.

    prompt: its digest. parameters: all that decides the reply besides. text: the reply as it came.
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
    def pair(self) -> tuple[str, str]:
        """Query and item."""
        return self.query, self.item

    @property
    def settings(self) -> str:
        """All that decides a reply, as a text."""
        return json.dumps([self.prompt, self.parameters], sort_keys=True)


class ModelGrades(NamedTuple):
    """The replies of one model for the pool, under the settings of its last reply. grade: (items,),
    NaN without a valid grade.

    replied: (items,). invalid, flagged, others: numbers of replies without a valid grade, flagged,
    and under other settings.
    """

    model: str
    prompt: str
    grade: Floats
    replied: Bools
    invalid: int
    flagged: int
    others: int


def replies_of(study: Study, model: str) -> Path:
    """The file of a model's replies; a name that is not a file's gets a digest, so that no two
    models share one.
    """
    safe = _UNSAFE.sub("-", model).strip(".-")[:80] or "model"
    if safe != model:
        safe += "-" + hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return study.place / MODELS / f"{safe}.jsonl"


def read_replies(study: Study, model: str) -> list[ModelReply]:
    """The replies of a model so far; a torn last line is left out. Raises BadInput, naming file and
    line, for any other line.
    """
    path, found = replies_of(study, model), list[ModelReply]()
    for number, text in enumerate(lines_in(path)[0], 1):
        content: Any = parse_json(text, str(path), "a reply per line", line=number)
        try:
            reply = ModelReply(**content)
        except TypeError as error:
            raise BadInput(
                f"{path}:{number}: {shown(content)} is not a reply; restore the file from a copy."
            ) from error
        is_grade = reply.grade is None or reply.grade in study.grades
        if (
            reply.model != model
            or not is_grade
            or (reply.grade is None) != (reply.status == "invalid")
        ):
            raise BadInput(
                f"{path}:{number}: {shown(reply.grade)} is not a reply of {model} on the "
                "scale; remove the line."
            )
        found.append(reply)
    return found


def known_models(study: Study) -> list[str]:
    """The names of the models that have replied."""
    return sorted(
        {
            _name_in(path)
            for path in (study.place / MODELS).glob("*.jsonl")
            if path.stat().st_size and not is_draft(path)
        }
    )


def append_reply(study: Study, reply: ModelReply) -> None:
    """Appends a reply and returns when it is on the disk; a torn last line goes first. Raises
    OSError.
    """
    path = replies_of(study, reply.model)
    path.parent.mkdir(exist_ok=True)
    append_to(
        path,
        json.dumps(reply._asdict(), ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n",
    )


def model_grades(study: Study, model: str) -> ModelGrades:
    """The grades of a model for the pool. Raises BadUsage where it has no reply."""
    replies = read_replies(study, model)
    if not replies:
        known = known_models(study)
        have = f"; there are replies of {', '.join(known)}" if known else ""
        raise BadUsage(
            f"--model {shown(model)}: it has no replies{have}. Ask it with `rankwell study "
            "model-judge`."
        )
    own = {reply.pair: reply for reply in replies if reply.settings == replies[-1].settings}
    pool, names = study.pool, study.queries
    grade, replied = np.full(len(pool.item), np.nan), np.zeros(len(pool.item), dtype=np.bool_)
    for row, (query, item) in enumerate(zip(pool.query.tolist(), pool.item.tolist(), strict=True)):
        reply = own.get((names[query], item))
        if reply is not None:
            replied[row] = True
            grade[row] = np.nan if reply.grade is None else reply.grade
    counts = (
        sum(each.grade is None for each in own.values()),
        sum(each.flagged for each in own.values()),
    )
    return ModelGrades(model, replies[-1].prompt, grade, replied, *counts, len(replies) - len(own))


def model_judgments(study: Study, model: str) -> Judgments:
    """The valid grades of a model as judgments, for exports that say that they are a model's.
    Raises as `model_grades`.
    """
    found, pool, names = model_grades(study, model), study.pool, study.queries
    rows = np.flatnonzero(~np.isnan(found.grade)).tolist()
    grades: dict[str, dict[str, float]] = {}
    for row in rows:
        grades.setdefault(names[pool.query[row]], {})[str(pool.item[row])] = float(found.grade[row])
    return Judgments.from_dict(grades)


def known_pairs(replies: Iterable[ModelReply], settings: str) -> set[tuple[str, str]]:
    """The items that have a reply under these settings."""
    return {reply.pair for reply in replies if reply.settings == settings}


def _name_in(path: Path) -> str:
    """The name of the model in a file of replies."""
    content: Any = parse_json(
        Source(path).read().partition(b"\n")[0], str(path), "a reply per line", line=1
    )
    return str(content.get("model")) if isinstance(content, Mapping) else path.stem
