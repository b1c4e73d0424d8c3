"""The folder of a study: its design in study.json, its pool, texts and guideline, written whole,
`study.json` last; the journals of judges, the replies of models and the looks, which grow by lines
that are flushed to the disk and read back checked; and the answers that journals come to.
"""

import json
import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cached_property
from hashlib import sha256
from math import comb
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rankwell.data.columns import parquet
from rankwell.data.findings import Finding
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import Bools, Floats, Ints, positions_by_id
from rankwell.documents import read_json, unique_keys
from rankwell.errors import BadInput, BadUsage, count_of, shown
from rankwell.io import connected, undamaged
from rankwell.io.line_files import append_rows, records_in, rows_in
from rankwell.io.result_folder import digest_of
from rankwell.store import Source, is_draft, write_text
from rankwell.store.locks import locked
from rankwell.tasks.judge.findings import line_cut_off, pooled_file_gone
from rankwell.tasks.judge.options import Design, Purpose

STUDY, GUIDELINE, QUERIES, DOCUMENTS = (
    "study.json",
    "guideline.md",
    "queries.parquet",
    "documents.parquet",
)
JUDGMENTS, LEASES, LOOKS = "judgments", "leases.jsonl", "looks.jsonl"
SCHEMA = 1
Pair = tuple[str, str]
"""A query and an item."""


@dataclass(frozen=True)
class PooledRun:
    """A run of the study.

    name: name of the run in outputs.
    file: path of the file, relative to the study where possible.
    digest: digest of the file when it was pooled.
    round: the round in which it was added, from 1.
    """

    name: str
    file: str
    digest: str
    round: int


@dataclass(frozen=True)
class StudyFile:
    """A file that the study was made from.

    file: path of the file, relative to the study where possible.
    digest: digest of the file when the study was pooled.
    """

    file: str
    digest: str


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """The plan of looks at the estimates.

    level: level of the intervals of all looks and pairs together, before correction.
    looks: number of planned looks.
    pairs: number of pairs that intervals are corrected for; None where the first look fixes it.
    """

    level: float
    looks: int
    pairs: int | None


@dataclass(frozen=True, eq=False)
class StudyPool:
    """The pool in the order in which the last round asks for judgments.

    query: (items,) index into the study's queries.
    item: (items,) ids of the items.
    u: (items,) permanent random numbers, from 0 to 1.
    prior: (items,) probability of relevance, guessed from ranks.
    sizes: (items, rounds) weights by which a round samples; 0 where it does not ask for the item.
    batches: (items, rounds) numbers of batches, from 0; -1 where a round does not ask for the item,
        or ended before it did.
    ranks: (items, runs) ranks from 1; 0 where a run lacks the item.
    """

    query: Ints
    item: NDArray[Any]
    u: Floats
    prior: Floats
    sizes: Floats
    batches: Ints
    ranks: Ints


@dataclass(frozen=True, eq=False, kw_only=True)
class Study:
    """A study as its folder describes it.

    folder: path of the folder.
    version: version of rankwell that pooled the study.
    seed: decides permanent random numbers and resampling.
    design: what people judge: sampled `items`, whole `queries`, or runs down to their first
        relevant items (`reading`).
    purpose: what judgments are spent on: `differences` of runs, or their `means` as well.
    measure: name of the measure with parameters.
    depth: number of first ranks of each run that are pooled.
    batch: number of items to judge in a batch; a few more where whole queries are drawn.
    drawn: number of drawn queries in the design `queries`; None in other designs.
    grades: grade -> its name, ascending.
    plan: the planned looks.
    thumbnails: pattern of the items' pictures, relative to the folder where possible; None for a
        study without pictures.
    sources: option -> file, for `queries`, `documents` and perhaps `guideline`.
    runs: the runs in the order in which they were pooled.
    rounds: number of pools so far.
    """

    folder: Path
    version: str
    seed: int
    design: Design
    purpose: Purpose
    measure: str
    depth: int
    batch: int
    drawn: int | None
    grades: Mapping[float, str]
    plan: StudyPlan
    thumbnails: str | None
    sources: Mapping[str, StudyFile]
    runs: tuple[PooledRun, ...]
    rounds: int

    @property
    def parsed_measure(self) -> Measure:
        """The measure with its parameters."""
        return parse_measure(self.measure)

    @property
    def run_names(self) -> tuple[str, ...]:
        """The names of the runs, in order."""
        return tuple(run.name for run in self.runs)

    def is_grade(self, value: object) -> bool:
        """Whether a value of JSON is a grade of the scale."""
        return type(value) in (int, float) and value in self.grades

    @property
    def scale(self) -> str:
        """The grades, for messages."""
        return ", ".join(f"{grade:g}" for grade in self.grades)

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The ids of all queries, in the order of their bytes."""
        return tuple(_columns(self.folder / QUERIES, ["query"])["query"].tolist())

    @cached_property
    def pool(self) -> StudyPool:
        """The pool with its sizes in all rounds. Raises BadInput where the file does not fit the
        study.
        """
        sizes, batches = (
            [f"{name}_{number + 1}" for number in range(self.rounds)] for name in ("size", "batch")
        )
        ranks = [f"rank_{number + 1}" for number in range(len(self.runs))]
        names = ["query", "item", "u", "prior", *sizes, *batches, *ranks]
        columns = _columns(self.pool_file, names)
        index = positions_by_id(self.queries)
        try:
            queries = [index[query] for query in columns["query"].tolist()]
        except KeyError as error:
            raise BadInput(
                f"{self.pool_file}: query {shown(error.args[0])} is not in {QUERIES}; restore the "
                "folder from a copy."
            ) from error

        def _stacked(names: list[str], missing: int) -> Any:
            return np.column_stack([np.ma.filled(columns[name], missing) for name in names])

        return StudyPool(
            query=np.array(queries, dtype=np.int64),
            item=columns["item"],
            u=np.asarray(columns["u"], dtype=np.float64),
            prior=np.asarray(columns["prior"], dtype=np.float64),
            sizes=_stacked(sizes, 0),
            batches=_stacked(batches, -1).astype(np.int64),
            ranks=_stacked(ranks, 0).astype(np.int64),
        )

    @property
    def pool_file(self) -> Path:
        """The file of the last round."""
        return self.folder / f"rounds/{self.rounds}.parquet"

    def pairs(self, rows: Ints) -> list[Pair]:
        """The query and the item of some rows of the pool."""
        queries, items = self.pool.query[rows].tolist(), self.pool.item[rows].tolist()
        return [(self.queries[query], item) for query, item in zip(queries, items, strict=True)]

    @cached_property
    def guideline_digest(self) -> str:
        """The digest of the guideline as it is now."""
        return digest_of(self.folder / GUIDELINE)

    @cached_property
    def identity(self) -> str:
        """A digest of what decides which items are judged; the same after runs are added, and in a
        copy of the folder.
        """
        runs = [(run.name, run.digest) for run in self.runs if run.round == 1]
        texts = [file.digest for name, file in self.sources.items() if name != "guideline"]
        names = ("seed", "design", "purpose", "measure", "depth", "batch", "drawn")
        design = [getattr(self, name) for name in names]
        content = [design, list(self.grades.items()), runs, sorted(texts)]
        return _digest(content)[:32]

    def query_texts(self, queries: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The rows of some queries by id: `text` and further columns."""
        return _rows_of(self.folder / QUERIES, "query", queries)

    def texts_of(self, items: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The rows of some items by id: `text`, None without a document, and further columns."""
        return _rows_of(self.folder / DOCUMENTS, "item", items)

    def refuse_changed_files(self) -> list[Finding]:
        """Raises BadInput for a run or text that is not what it was when it was pooled; findings
        on files that are gone.
        """
        files = {**{f"run {run.name}": run for run in self.runs}, **self.sources}
        files.pop("guideline", None)
        findings = list[Finding]()
        for name, pooled_file in files.items():
            path = self.folder / pooled_file.file
            if not path.is_file():
                findings.append(pooled_file_gone(name, str(path)))
            elif digest_of(path) != pooled_file.digest:
                raise BadInput(
                    f"{name}: {path} has changed since it was pooled; restore the file, or pool it "
                    "under another name with `rankwell judge pool STUDY --add`."
                )
        return findings


def place_of(file: str | Path, study: Path) -> str:
    """The place of a file as a study keeps it: relative to the folder."""
    try:
        return os.path.relpath(Path(file).resolve(), study.resolve())
    except ValueError:  # another drive
        return str(Path(file).resolve())


def write_study(study: Study) -> None:
    """Writes study.json, whole or not at all."""
    content = {"study": SCHEMA, **asdict(study)}
    del content["folder"]
    content["grades"] = [{"grade": grade, "name": name} for grade, name in study.grades.items()]
    content["digest"] = _digest(content)
    write_text(study.folder / STUDY, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _digest(content: Any) -> str:
    """The SHA-256 of what JSON can hold."""
    return sha256(json.dumps(content, sort_keys=True).encode("ascii")).hexdigest()


def is_study(folder: str | Path) -> bool:
    """Whether a place is the folder of a study."""
    return (Path(folder) / STUDY).is_file()


def read_study(name: str | Path) -> Study:
    """The study in a folder. Raises BadInput for another folder, and for a study.json that is not
    one.
    """
    folder = Path(name)
    if not is_study(folder):
        raise BadInput(f"{name} is not a study; name a folder that `rankwell judge pool -o` wrote.")
    path = folder / STUDY
    content = read_json(Source(path), "a study")
    if not isinstance(content, dict):
        raise BadInput(
            f"{path}: expected an object that describes a study; restore it from a copy."
        )
    try:
        if content["study"] != SCHEMA:
            raise BadInput(
                f"{path}: schema {shown(content['study'])}; this version reads {SCHEMA}. "
                "Update rankwell."
            )
        study = Study(
            folder=folder,
            grades={float(grade["grade"]): str(grade["name"]) for grade in content["grades"]},
            plan=StudyPlan(**content["plan"]),
            sources={name: StudyFile(**file) for name, file in content["sources"].items()},
            runs=tuple(PooledRun(**run) for run in content["runs"]),
            **{
                field.name: content[field.name]
                for field in fields(Study)
                if field.name not in ("folder", "grades", "plan", "sources", "runs")
            },
        )
        if (
            study.design not in get_args(Design)
            or study.purpose not in get_args(Purpose)
            or study.rounds < 1
        ):
            raise ValueError(study.design)
        study.parsed_measure  # noqa: B018 - raises BadUsage
        if content.pop("digest") != _digest(content):
            raise BadInput(
                f"{path} was edited since it was written; restore it from a copy, or pool the "
                "study again."
            )
    except (KeyError, TypeError, ValueError, AttributeError, BadUsage) as error:
        raise BadInput(
            f"{path} is not the description of a study ({shown(str(error))}); restore it from "
            "a copy."
        ) from error
    return study


@contextmanager
def table_session(path: Path) -> Generator[Any]:
    """A session that queries a Parquet file of the study. Raises BadInput where it is missing or
    damaged, or lacks a column.
    """
    import duckdb

    if not path.is_file():
        raise BadInput(f"{path} is missing; restore the folder of the study from a copy.")
    with undamaged(f"{path}: ", "restore it from a copy"), connected() as session:
        try:
            yield session
        except duckdb.BinderException as error:
            raise BadInput(
                f"{path} does not have the columns of a study; restore it from a copy."
            ) from error


def _columns(path: Path, names: Sequence[str]) -> dict[str, Any]:
    with table_session(path) as session:
        return session.execute(f"SELECT {', '.join(names)} FROM {parquet(path)}").fetchnumpy()  # noqa: S608


def _rows_of(path: Path, key: str, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    with table_session(path) as session:
        session.register("chosen", {"id": np.array(list(dict.fromkeys(ids)), dtype=object)})
        table = session.execute(
            f"SELECT * FROM {parquet(path)} WHERE {key} IN (SELECT id FROM chosen)"  # noqa: S608
        )
        names = [column[0] for column in table.description]
        rows = [dict(zip(names, row, strict=True)) for row in table.fetchall()]
    return {row.pop(key): row for row in rows}


ANSWERS = ("unknown", "open")
"""Actions that answer an item without a grade: the judge cannot tell, or left it open when the
batch ended.
"""
ACTIONS = (*ANSWERS, "postpone", "note")
PURPOSES = ("repeat", "gold")
"""Purposes of lines that estimates do not use."""
_TEXTS = ("time", "judge", "query", "item")
JUDGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Names that a judge may have, which name a file."""


class JournalLine(NamedTuple):
    """One act of a judge.

    time: time in UTC, as ISO 8601.
    judge: name of the judge.
    query, item: ids of the query and the item.
    grade: grade on the scale of the study; None for an action.
    action: one of `ACTIONS`; empty for a grade.
    note: note of the judge; empty for none.
    seconds: time that the act took; None where it was not measured, as in a sheet.
    place: number of the act in its session, from 1, or of the row in its sheet; None where it is
        unknown.
    guideline: digest of the guideline at the time; empty where it is unknown.
    purpose: one of `PURPOSES`; empty for a judgment that counts.
    """

    time: str
    judge: str
    query: str
    item: str
    grade: float | None = None
    action: str = ""
    note: str = ""
    seconds: float | None = None
    place: int | None = None
    guideline: str = ""
    purpose: str = ""

    @property
    def pair(self) -> Pair:
        """Query and item."""
        return self.query, self.item

    @property
    def is_answer(self) -> bool:
        """Whether it answers its item in the study."""
        return not self.purpose and self.is_final

    @property
    def is_final(self) -> bool:
        """Whether it answers its item, be it for a purpose that does not count."""
        return self.grade is not None or self.action in ANSWERS


class Journals(NamedTuple):
    """The journals of a study.

    lines: the lines of all judges, by judge, in the order of writing.
    findings: findings on last lines that were cut off, and are dropped.
    """

    lines: Sequence[JournalLine]
    findings: tuple[Finding, ...]


def check_judge(name: str) -> str:
    """The name of a judge. Raises BadUsage for one that names no file."""
    if not JUDGE_NAME.fullmatch(name):
        raise BadUsage(
            f"--judge {shown(name)}: expected letters, digits, dots, hyphens and underscores, "
            "such as judge-1."
        )
    return name


def journal_of(study: Study, judge: str) -> Path:
    """The journal of a judge."""
    return study.folder / JUDGMENTS / f"{check_judge(judge)}.jsonl"


@contextmanager
def held_journal(study: Study, judge: str) -> Generator[None]:
    """Holds the journal of a judge until the block ends. Raises BadUsage where another process
    holds it.
    """
    path = journal_of(study, judge)
    path.parent.mkdir(exist_ok=True)
    try:
        with locked(path):
            yield
    finally:
        with suppress(OSError):  # there are judgments
            path.parent.rmdir()


def now(ago: timedelta = timedelta()) -> str:
    """The time as journals write it, or one that was some time ago."""
    return (datetime.now(UTC) - ago).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def append_lines(study: Study, lines: Sequence[JournalLine]) -> None:
    """Appends the lines of one judge and returns when they are on the disk; a torn last line goes
    first. Raises OSError.

    A line has `grade` or `action`, and `purpose` only where there is one.
    """
    if not lines:
        return
    path = journal_of(study, lines[0].judge)
    path.parent.mkdir(exist_ok=True)
    rows = [line._asdict() for line in lines]
    for row in rows:
        del row["grade" if row["grade"] is None else "action"]
        if not row["purpose"]:
            del row["purpose"]
    append_rows(path, rows)


def _files(study: Study) -> list[Path]:
    return sorted(path for path in (study.folder / JUDGMENTS).glob("*.jsonl") if not is_draft(path))


def read_journals(study: Study) -> Journals:
    """All journals of a study. Raises BadInput, naming file and line, for a line that is not one of
    this study.
    """
    journals = [read_journal(path, study) for path in _files(study)]
    return Journals(
        [line for journal in journals for line in journal.lines],
        tuple(finding for journal in journals for finding in journal.findings),
    )


def read_journal(path: Path, study: Study) -> Journals:
    """One journal, without lines where there is none yet. Raises as `read_journals`."""
    rows, is_torn = rows_in(path, pairs=unique_keys)
    lines = [journal_line(row, where, path.stem, study) for where, row in rows]
    return Journals(lines, (line_cut_off(str(path)),) * is_torn)


def journal_line(content: Any, where: str, judge: str, study: Study) -> JournalLine:
    """The line of a judge in parsed JSON. where: file and line. Raises BadInput for anything
    else.
    """
    if not isinstance(content, Mapping):
        raise BadInput(f"{where}: {shown(content)}; expected an object with query, item and grade.")
    for name in _TEXTS:
        if not isinstance(content.get(name), str) or not content[name]:
            raise BadInput(f"{where}: {name} is {shown(content.get(name))}; expected a string.")
    if content["judge"] != judge:
        raise BadInput(
            f"{where}: judge {shown(content['judge'])} in the journal of {judge!r}; move the "
            "line to its own journal."
        )
    grade = content.get("grade")
    action, purpose = content.get("action", ""), content.get("purpose", "")
    if grade is None and action not in ACTIONS:
        raise BadInput(
            f"{where}: no grade, and the action {shown(action)}; expected one of "
            f"{', '.join(ACTIONS)}."
        )
    if grade is not None and not study.is_grade(grade):
        problem = f"grade {shown(grade)}; the scale of the study is {study.scale}"
        raise BadInput(f"{where}: {problem}. Correct the line.")
    if purpose not in ("", *PURPOSES):
        raise BadInput(
            f"{where}: purpose {shown(purpose)}; expected one of {', '.join(PURPOSES)}, or none."
        )
    seconds, position = content.get("seconds"), content.get("place")
    return JournalLine(
        content["time"],
        judge,
        content["query"],
        content["item"],
        None if grade is None else float(grade),
        action if grade is None else "",
        str(content.get("note") or ""),
        float(seconds) if isinstance(seconds, (int, float)) else None,
        position if isinstance(position, int) else None,
        str(content.get("guideline") or ""),
        purpose,
    )


def last_answers(lines: Iterable[JournalLine]) -> dict[Pair, dict[str, JournalLine]]:
    """The last answer of each judge to each query and item."""
    answers: dict[Pair, dict[str, JournalLine]] = {}
    for line in lines:
        if line.is_answer:
            answers.setdefault(line.pair, {})[line.judge] = line
    return answers


@dataclass(frozen=True, eq=False)
class StudyAnswers:
    """The answers to the pool.

    grade: (items,) the grade that counts where several judges answered; NaN where there is none.
    answered: (items,) whether there is an answer, with or without a grade.
    judges: names of the judges who answered, sorted.
    guidelines: digests of the guidelines that they judged by, sorted.
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
        used_lines = [line for by_judge in answers.values() for line in by_judge.values()]
        judges = tuple(sorted({line.judge for line in used_lines}))
        if grade_by not in ("median", "first", *judges):
            raise BadUsage(
                f"--grade-by {shown(grade_by)}: expected median, first, or a judge: "
                f"{', '.join(judges) or 'none so far'}."
            )
        n_items = len(study.pool.item)
        grade, answered = np.full(n_items, np.nan), np.zeros(n_items, dtype=np.bool_)
        judged = {query for query, _ in answers}
        is_judged = np.array([query in judged for query in study.queries], dtype=np.bool_)
        rows = np.flatnonzero(is_judged[study.pool.query])
        for row, pair in zip(rows.tolist(), study.pairs(rows), strict=True):
            if by_judge := answers.pop(pair, None):
                answered[row], grade[row] = True, _grade(by_judge, grade_by)
        if answers:
            raise outside_pool(study, min(answers))
        return cls(grade, answered, judges, tuple(sorted({line.guideline for line in used_lines})))


def outside_pool(study: Study, pair: Pair) -> BadInput:
    """The error for a judged item that was never pooled, with the place of its first judgment."""
    query, item = pair
    place = next(
        (
            where
            for path in _files(study)
            for where, row in rows_in(path)[0]
            if (row.get("query"), row.get("item")) == pair
        ),
        study.folder / JUDGMENTS,
    )
    return BadInput(
        f"{place}: item {shown(item)} of query {shown(query)} is judged, but not in the pool; "
        "remove the line."
    )


def _grade(by_judge: Mapping[str, JournalLine], grade_by: str) -> float:
    """The grade that counts of several judges' ones; NaN where none has one."""
    grades = [
        line.grade
        for judge, line in sorted(by_judge.items())
        if line.grade is not None and grade_by in ("median", "first", judge)
    ]
    if not grades:
        return np.nan
    return median_low(grades) if grade_by == "median" else grades[0]


class Look(NamedTuple):
    """One look at a study.

    time: time of the first display in UTC, as ISO 8601.
    look: number of the look, from 1.
    digest: digest of everything that it showed; the same digest later is no new look.
    pairs: number of pairs that intervals are corrected for, fixed by the first look.
    """

    time: str
    look: int
    digest: str
    pairs: int


class Looks(NamedTuple):
    """The looks at a study so far. A look is a display of estimated differences after new
    judgments; looks are recorded so that intervals can be corrected for all planned ones.

    study: the study with its plan.
    looks: the looks in order.
    """

    study: Study
    looks: Sequence[Look]

    @property
    def pairs(self) -> int:
        """The number of pairs that are corrected for: the planned ones, else those of the first
        look.
        """
        if self.study.plan.pairs is None and self.looks:
            return self.looks[0].pairs
        return self.study.plan.pairs or comb(len(self.study.runs), 2)

    @property
    def corrected_level(self) -> float:
        """The level of each interval: α over looks and pairs."""
        return 1 - (1 - self.study.plan.level) / (self.study.plan.looks * self.pairs)

    def words(self, look: int) -> str:
        """The number of a look in the plan, the level of its intervals, and what they are corrected
        for.
        """
        planned, level = self.study.plan.looks, 100 * self.study.plan.level
        plan = f"{count_of(planned, 'look')} and {count_of(self.pairs, 'pair')}"
        intervals = f"{100 * self.corrected_level:.4g} % intervals"
        if look <= planned:
            return f"look {look} of {planned}: {intervals}, {level:g} % corrected for {plan}"
        return (
            f"look {look}, beyond the {planned} planned: {intervals}, corrected for {plan} "
            f"alone, so that {level:g} % for all looks together is not guaranteed"
        )

    def take(self, data: Sequence[Any]) -> int:
        """The number of the look at some data: of the recorded one, or of a new one, which is
        recorded. data: all that decides the estimate, as JSON can hold it.
        """
        digest = "sha256:" + _digest(data)
        for look in self.looks:
            if look.digest == digest:
                return look.look
        look = Look(now(), len(self.looks) + 1, digest, self.pairs)
        append_rows(self.study.folder / LOOKS, [look._asdict()])
        return look.look


def read_looks(study: Study) -> Looks:
    """The looks of a study. Raises BadInput for a line that is not one."""
    looks = records_in(
        study.folder / LOOKS,
        "a look",
        lambda row: Look(str(row["time"]), int(row["look"]), str(row["digest"]), int(row["pairs"])),
        "restore the file from a copy",
    )
    return Looks(study, looks)


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
        safe += "-" + sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:8]
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
