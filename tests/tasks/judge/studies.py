"""A small world for studies: two runs, texts, and a judge who knows the truth and fills in
spreadsheets.
"""

import csv
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from commanding import with_fields
from rankwell.tasks.judge import task
from rankwell.tasks.judge.commands.judge_label import label

judge = with_fields(label)
agreement, estimate, model_judge, plan, pool = (
    with_fields(declared.command())
    for declared in (task.agreement, task.estimate, task.llm, task.plan, task.pool)
)


def write_world(folder: Path, *, queries: int = 30, seed: int = 1) -> dict[tuple[str, str], int]:
    """Writes queries.tsv, documents.tsv and the runs a, b and c, of which b is best; returns the
    grades.
    """
    draw, truth = Random(seed), dict[tuple[str, str], int]()
    names = [f"q{number:03}" for number in range(queries)]
    documents = [f"d{number:03}" for number in range(300)]
    lines = {"a": list[str](), "b": list[str](), "c": list[str]()}
    for query in names:
        candidates = draw.sample(documents, 30)
        grades = {item: draw.choices((0, 1, 2, 3), (60, 20, 15, 5))[0] for item in candidates}
        truth |= {(query, item): grade for item, grade in grades.items()}
        for run, noise in (("a", 2.5), ("b", 1.0), ("c", 4.0)):
            order = sorted(
                candidates, key=lambda item: grades[item] + draw.gauss(0, noise), reverse=True
            )[:20]
            lines[run] += [
                f"{query} Q0 {item} {rank} {100 - rank} {run}\n"
                for rank, item in enumerate(order, 1)
            ]
    (folder / "queries.tsv").write_text(
        "".join(f"{query}\tthe text of {query}\n" for query in names)
    )
    (folder / "documents.tsv").write_text(
        "".join(f"{item}\tthe text of {item}\n" for item in documents)
    )
    for run, own in lines.items():
        (folder / f"{run}.run").write_text("".join(own))
    return truth


def pool_study(folder: Path, *runs: str, name: str = "study", **options: Any) -> Path:
    """Pools the runs a and b, or others, into a study."""
    places = [str(folder / f"{run}.run") for run in runs or ("a", "b")]
    texts = {"queries": str(folder / "queries.tsv"), "documents": str(folder / "documents.tsv")}
    pool(*places, output=folder / name, **texts, **options)
    return folder / name


def read_sheet(path: Path) -> list[dict[str, str]]:
    """The rows of a spreadsheet."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, grades: Mapping[tuple[str, str], Any], name: str = "grade") -> None:
    """Fills the grades of a spreadsheet: a mapping of query and item to a grade or letter; nothing
    where it has none.
    """
    rows = read_sheet(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, name: grades.get((row["query"], row["item"]), "")})


def judge_batches(
    study: Path, truth: Mapping[tuple[str, str], Any], n: int | None = None, by: str = "judge-1"
) -> int:
    """Judges batches, all of them by default, and returns their number."""
    done = 0
    while n is None or done < n:
        sheet = study.parent / f"{study.name}-{by}.csv"
        sheet.unlink(missing_ok=True)
        judge(str(study), judge=by, export=sheet)
        if not sheet.exists():
            break
        fill(sheet, truth)
        judge(str(study), judge=by, import_=str(sheet))
        done += 1
    return done
