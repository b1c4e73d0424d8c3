"""Command lines of runs and judgments without a header, whose columns stand in another order and
are chosen.
"""

from pathlib import Path

_RUN, _QRELS = "--columns query=3,item=2,score=1", "--qrels-columns query=2,item=3,grade=1"
_TRUTH, _BOTH = f"bare/qrels.txt {_QRELS}", f"bare/a.run bare/b.run {_RUN}"
_POOL = (
    f"study pool bare/one.run bare/two.run {_RUN} --query-texts judged/queries.tsv "
    "--documents judged/documents.tsv -o out"
)
CASES = {
    "columns/evaluate": f"evaluate bare/qrels.txt bare/a.run {_QRELS} {_RUN} -m AP -m nDCG@5",
    "columns/not-chosen": f"evaluate bare/qrels.txt bare/a.run {_RUN}\nevaluate bare/qrels.txt "
    f"bare/a.run {_QRELS}",
    "columns/compare": f"compare {_TRUTH} {_BOTH} -m AP",
    "columns/check": f"check {_TRUTH} {_BOTH}",
    "columns/convert": f"convert bare/a.run out/a.csv {_RUN}\nconvert bare/qrels.txt out/q.csv "
    f"{_QRELS}",
    "columns/fuse": f"fuse {_BOTH} -o out/fused.csv --tune bare/qrels.txt {_QRELS}",
    "columns/interleave": f"interleave {_BOTH} -o out/lists.jsonl -k 3",
    "columns/beyond": f"beyond bare/mine.run {_RUN} --judgments bare/truth.txt {_QRELS} -m "
    "ItemCoverage@3 -m "
    "Novelty@3 "
    "--catalogue beyond/items.csv:id --interactions beyond/seen.txt",
    "columns/agree": f"agree --reference bare/a.run bare/b.run {_RUN}\n"
    "agree --reference vectors/teacher.npy vectors/near.npy --samples all -k 5 --ids "
    "vectors/ids.txt --labels vectors/labels.csv "
    "--qrels-columns query=query,item=item,grade=grade",
    "columns/answers": f"answers answers/gold.json --retrieved bare/found.run {_RUN}",
    "columns/clips": f"clips evaluate --annotations clips/table.csv --run bare/clips.run {_RUN}",
    "columns/retrieve": "retrieve live_engine:search --queries live/asked.tsv --rounds 2 "
    "--warm-up 1 -k 1 "
    f"-m RR --qrels bare/judged.txt {_QRELS} --truth bare/truth.run {_RUN}",
    "columns/study": f"{_POOL}\nstudy judge out --judge ann --page page.html --gold "
    f"bare/gold.txt {_QRELS}\n"
    f"study agreement judged/study --gold bare/gold.txt {_QRELS}",
    "columns/unused": "agree --reference vectors/teacher.npy vectors/near.npy --samples all "
    "--columns "
    "query=1,item=2,score=3\n"
    "agree --reference vectors/teacher.npy vectors/near.npy --samples all --qrels-columns "
    "query=1,item=2,grade=3\n"
    "beyond beyond/mine.run --qrels-columns query=1,item=2,grade=3\n"
    "answers answers/gold.json answers/ranked.jsonl --columns query=1,item=2,score=3\n"
    "clips evaluate --annotations clips/table.csv --embeddings clips/vectors.npy --columns "
    "query=1,item=2,score=3\n"
    "retrieve live_engine:search --queries live/asked.tsv --qrels-columns query=1,item=2,grade=3\n"
    "retrieve live_engine:search --queries live/asked.tsv --truth none --columns "
    "query=1,item=2,score=3\n"
    f"{_POOL}\nstudy judge out --judge ann --page page.html --qrels-columns "
    "query=1,item=2,grade=3\n"
    "study agreement judged/study --qrels-columns query=1,item=2,grade=3",
    "columns/part": "bench bench.toml -o out --only 'runs/*' --executor array --work "
    "work\npart work 0 "
    "--bench bench.toml",
}


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
