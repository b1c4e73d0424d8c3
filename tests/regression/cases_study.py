"""Command lines of studies: pooled, handed out as a spreadsheet, judged and estimated. Times of
judgments are in no output.
"""

from pathlib import Path

from rankwell.tasks.study.batches import lease_batch
from rankwell.tasks.study.folder import read_study
from rankwell.tasks.study.journal import JournalLine, append_lines
from rankwell.tasks.study.model_replies import ModelReply, append_reply
from tasks.study import smallest
from tasks.study.studies import pool_study, write_world

_THEN = "2026-11-25T12:00:00.000Z"

_LINE = (
    '{{"time": "2026-11-25T12:00:0{}.000Z", "judge": "ben", "query": "q1", "item": "{}", '
    '"grade": {}, "note": "", '
    '"study": {{"name": "study", "identity": "{}"}}}}\n'
)
_POOL = (
    "study pool judged/one.run judged/two.run --query-texts judged/queries.tsv --documents "
    "judged/documents.tsv"
)
CASES = {
    "study/pool": f"{_POOL} -o out",
    "study/pool-options": f"{_POOL} -o out --overwrite -m 'SDCG(max_rel=1)@2' --for means "
    "--grades '0=not "
    "relevant,1=relevant' "
    "--batch 5 --looks 3 --pairs-planned 2 --level 0.9 --seed 3 --guideline judged/guideline.md",
    "study/pool-queries": f"{_POOL} -o out -m AP@100 --by queries 1 --depth 100",
    "study/pool-thumbnails": f"{_POOL} -o out --thumbnails nothing",
    "study/add": f"{_POOL} -o out\nstudy pool out --add judged/three.run",
    "study/judge": "study judge judged --judge ann --export batch.csv --overwrite",
    "study/judge-page": "study judge judged --judge ann --page page.html --double 0.1 --repeat "
    "0.05 --gold "
    "judged/gold.qrels",
    "study/judge-refused": "study judge judged --judge ann --export batch.csv --no-browser",
    "study/collect": f"{_POOL} -o out\nstudy judge out --collect judged/downloaded.jsonl",
    "study/import": f"{_POOL} -o out\nstudy judge out --judge ann --import judged/nothing.csv",
    "study/import-again": "study judge judged/study --judge ann --import judged/other.csv\n"
    "study judge judged/study --judge ann --import judged/same.csv --replace",
    "study/estimate": f"{_POOL} -o out\nstudy estimate out -m P@2 --for means --grade-by median "
    "--mix-guidelines -f json",
    "study/export": "convert judged/study out/study.qrels\nconvert judged/study:ben "
    "out/study.csv --to "
    "quepid\n"
    "convert judged/study out/model.qrels --source model",
    "study/plan": "study plan begun/study --difference 0.1\nstudy plan begun/study -f "
    "json\nstudy plan "
    "judged/study",
    "study/agreement": "study agreement judged/study --gold judged/gold.qrels --level 0.9",
    "study/estimate-model": f"{_POOL} -o out\nstudy estimate out --model m",
    "study/model-judge": "study model-judge judged/study --callable model:grade --model m "
    "--at-most 0\n"
    "study model-judge judged/study --callable model:grade --model m --at-most 0 -f json",
    "study/model-judge-key": "study model-judge judged/study --url http://127.0.0.1:9/v1 "
    "--model m --key "
    "'${NO_SUCH_KEY}' "
    "--prompt judged/prompt.txt --parameter temperature=0.5 --parameter max_tokens=9 "
    "--longest 99 --timeout 1 --attempts 1 --jobs 2",
    "study/agreement-json": "study agreement judged/study -f json",
}


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
    parameters = {"callable": "model:grade", "longest": 20_000}
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
    study = read_study(pool_study(folder / "begun", batch=15))
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
