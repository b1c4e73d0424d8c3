"""The folder of a study: its design in study.json, its pool, texts and guideline; written whole,
`study.json` last.
"""

import json
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from rankwell.data.columns import parquet
from rankwell.data.findings import Finding
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import Floats, Ints
from rankwell.documents import read_json
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.io import connected, undamaged
from rankwell.io.result_folder import digest_of
from rankwell.store import Source, write_text
from rankwell.tasks.judge.findings import pooled_file_gone
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


class PooledRun(NamedTuple):
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


class StudyFile(NamedTuple):
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
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and value in self.grades

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
        index = {query: position for position, query in enumerate(self.queries)}
        queries = columns["query"].tolist()
        for query in queries:
            if query not in index:
                raise BadInput(
                    f"{self.pool_file}: query {shown(query)} is not in {QUERIES}; restore the "
                    "folder from a copy."
                )

        def _stacked(names: list[str], missing: int) -> Floats:
            masked = (np.ma.asarray(columns[name]).astype(np.float64) for name in names)
            return np.column_stack([np.ma.filled(column, missing) for column in masked])

        return StudyPool(
            query=np.array([index[query] for query in queries], dtype=np.int64),
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
        return sha256(json.dumps(content).encode("ascii")).hexdigest()[:32]

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
        files = {f"run {run.name}": (run.file, run.digest) for run in self.runs}
        files |= {name.replace("_", " "): file for name, file in self.sources.items()}
        files.pop("guideline", None)
        findings = list[Finding]()
        for name, (file, digest) in files.items():
            path = self.folder / file
            if not path.is_file():
                findings.append(pooled_file_gone(name, str(path)))
            elif digest_of(path) != digest:
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
    content: dict[str, Any] = {"study": SCHEMA} | {
        field.name: getattr(study, field.name) for field in fields(study) if field.name != "folder"
    }
    content |= {
        "grades": [{"grade": grade, "name": name} for grade, name in study.grades.items()],
        "plan": asdict(study.plan),
        "sources": {name: file._asdict() for name, file in study.sources.items()},
        "runs": [run._asdict() for run in study.runs],
    }
    content["digest"] = _digest(content)
    write_text(study.folder / STUDY, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _digest(content: Mapping[str, Any]) -> str:
    """The SHA-256 of all that study.json says but the digest itself."""
    described = {name: value for name, value in content.items() if name != "digest"}
    return sha256(json.dumps(described, sort_keys=True).encode("ascii")).hexdigest()


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
        if content["digest"] != _digest(content):
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
