"""Inputs of the cases of chosen columns: runs and judgments in another order."""

from pathlib import Path


def write(folder: Path) -> None:
    """The same runs and judgments as those of the other cases, in other columns."""
    (folder / "bare").mkdir()
    runs = ("a", "b", "beyond/mine", "answers/found", "clips/clips", "judged/one", "judged/two")
    for path in runs:
        rows = (
            line.split()
            for line in (folder / f"{path}.run").read_text(encoding="utf-8").splitlines()
        )
        text = "".join(f"{score} {item} {query}\n" for query, _, item, _, score, *_ in rows)
        (folder / "bare" / f"{Path(path).name}.run").write_text(text, encoding="utf-8")
    (folder / "bare/truth.run").write_text("2.5 a q1\n2.5 b q2\n", encoding="utf-8")
    judgments = {
        "qrels": "qrels.txt",
        "truth": "beyond/qrels.txt",
        "judged": "live/judged.txt",
        "gold": "judged/gold.qrels",
    }
    for name, path in judgments.items():
        rows = (line.split() for line in (folder / path).read_text(encoding="utf-8").splitlines())
        text = "".join(f"{grade} {query} {item}\n" for query, _, item, grade in rows)
        (folder / "bare" / f"{name}.txt").write_text(text, encoding="utf-8")
