"""Command lines of studies: pooled, handed out as a spreadsheet, judged and estimated. Times of judgments are in no output."""

from pathlib import Path

from tasks.study import smallest

_POOL = "study pool judged/one.run judged/two.run --query-texts judged/queries.tsv --documents judged/documents.tsv"
CASES = {
    "study/pool": f"{_POOL} -o out",
    "study/pool-options": f"{_POOL} -o out --overwrite -m 'SDCG(max_rel=1)@2' --for means --grades '0=not relevant,1=relevant' "
    "--batch 5 --looks 3 --pairs-planned 2 --level 0.9 --seed 3 --guideline judged/guideline.md",
    "study/pool-queries": f"{_POOL} -o out -m AP@100 --by queries 1 --depth 100",
    "study/pool-thumbnails": f"{_POOL} -o out --thumbnails nothing",
    "study/add": f"{_POOL} -o out\nstudy pool out --add judged/three.run",
    "study/judge": "study judge judged --judge ann --export batch.csv --overwrite",
    "study/import": f"{_POOL} -o out\nstudy judge out --judge ann --import judged/nothing.csv",
    "study/estimate": f"{_POOL} -o out\nstudy estimate out -m P@2 --for means --grade-by median --mix-guidelines -f json",
}


def write(folder: Path) -> None:
    """Writes the inputs."""
    (folder / "judged").mkdir()
    smallest.write(folder / "judged")
    (folder / "judged" / "three.run").write_text("q1 Q0 d3 1 2.0 r\nq1 Q0 d1 2 1.0 r\n", encoding="utf-8")
    (folder / "judged" / "guideline.md").write_text("3: answers the question.\n", encoding="utf-8")
