"""Inputs of the cases of `judge`: studies with judges, a model and files to import."""

from pathlib import Path

from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.folder import (
    JournalLine,
    ModelReply,
    append_lines,
    append_reply,
    read_study,
)
from tasks.judge import smallest
from tasks.judge.studies import pool_study, write_world

_THEN = "2026-11-25T12:00:00.000Z"
_LINE = (
    '{{"time": "2026-11-25T12:00:0{}.000Z", "judge": "ben", "query": "q1", "item": "{}", '
    '"grade": {}, "note": "", '
    '"study": {{"name": "study", "identity": "{}"}}}}\n'
)


def write(folder: Path) -> None:
    """Writes the inputs."""
    (folder / "judged").mkdir()
    smallest.write(folder / "judged")
    (folder / "judged" / "three.run").write_text(
        "q1 Q0 d3 1 2.0 r\nq1 Q0 d1 2 1.0 r\n", encoding="utf-8"
    )
    study = pool_study(folder / "judged", "one", "two")
    for judge, grades in {"ann": (3, 0), "ben": (2, 0)}.items():
        rows = zip(("d1", "d2"), grades, (1, 2), strict=True)
        lines = [
            JournalLine(_THEN, judge, "q1", item, grade, "", "", 4.5, place)
            for item, grade, place in rows
        ]
        append_lines(read_study(study), lines)
    parameters = {"function": "model:grade", "max_characters": 20_000}
    for item, grade in (("d1", 3), ("d2", 1)):
        text, head = str(grade), ("q1", item, "grade")
        append_reply(
            read_study(study),
            ModelReply(
                _THEN, "m", "", parameters, *head, grade, flagged=False, seconds=1.0, text=text
            ),
        )
    (folder / "model.py").write_text(
        "def grade(query, document):\n    return 1\n", encoding="utf-8"
    )
    (folder / "judged" / "prompt.txt").write_text(
        "Query: {query}\nDocument: {document}\n", encoding="utf-8"
    )
    (folder / "begun").mkdir()
    truth = write_world(folder / "begun", queries=12)
    study = read_study(pool_study(folder / "begun", batch_size=15))
    batch = lease_batch(study, "ann")
    assert batch is not None
    append_lines(study, [JournalLine(_THEN, "ann", *pair, truth[pair]) for pair in batch.pairs])
    (folder / "judged" / "gold.qrels").write_text("q1 0 d1 3\n", encoding="utf-8")
    identity = read_study(folder / "judged" / "study").identity
    lines = "".join(
        _LINE.format(n, item, n, identity) for n, item in ((1, "d1"), (2, "d2"), (3, "d1"))
    )
    (folder / "judged" / "downloaded.jsonl").write_text(lines, encoding="utf-8")
    for name, grade in (("same", 3), ("other", 2)):
        (folder / "judged" / f"{name}.csv").write_text(
            f"query,item,grade\nq1,d1,{grade}\n", encoding="utf-8"
        )
    (folder / "judged" / "guideline.md").write_text("3: answers the question.\n", encoding="utf-8")
