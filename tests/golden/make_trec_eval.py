"""Write what trec_eval prints for seeded, awkward files to `trec_eval-10.0/` and
`trec_eval-9.0.8/`.

Run it from the project root with the two programs: `python tests/golden/make_trec_eval.py
10.0/trec_eval 9.0.8/trec_eval`.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

SEED = 20261120
HERE = Path(__file__).parent
PARAMETERS = (
    "-mP.7,1,3 -m recall.4 -mrelstring.12 -mndcg_cut.1,2 -mG.1=2,2=7 -miprec_at_recall..33,.5 "
    "-m Rprec_mult.0.3,5 -mset_F.0.5 "
    "-mutility.1,2,3,4 -m 11pt_avg.0.1,.9 -mmap_cut.1,12 -msuccess.3 -mrelative_P.4,2 "
    "-mRndcg.1=3 -mndcg_rel.1=4,2=2 -mndcg.2=9.5"
)
# Without -c version 10 stops at the first query that the run lacks.
COMMANDS = (
    *(
        "-c qrels run",
        "-q -c -m all_trec qrels run",
        "-m official -q qrels run",
        "-q -n -c -m official -l2 qrels run",
    ),
    *(
        "-qcM5 -m all_trec qrels run",
        "-cqJ -m official -m set qrels run",
        "-JqcM 8 -mmap -m infAP -mbpref -mrelstring.30 qrels run",
    ),
    *(
        "-cq -N 1000 -m yaap -m set -m runid qrels run",
        f"-q -c {PARAMETERS} qrels run",
        f"{PARAMETERS} qrels run -q -c -l3 -N50",
    ),
    *(
        "-c -q -m official -mset -mndcg -Z zscores qrels run",
        "-c -q --mea=map --level=2 -D0.q3 qrels run",
        "-cq -m gm_map -mgm_bpref -o qrels run",
    ),
    *(
        "-q -c -m qrels_jg -R qrels_jg groups run",
        "-q -J -c -M9 -m qrels_jg -R qrels_jg -l 2 groups run",
    ),
    *(
        "-q -c -m all_prefs -R prefs prefs run",
        "-q -c -M6 -J -m all_prefs --Rel_info_format=qrels_prefs groups run",
    ),
    *("-m num_q -mmap qrels scattered", "-c -m all_trec -- qrels scattered"),
)
ONLY_10 = (
    "-c -q -m dcg -mideal_dcg qrels run",
    "-q -c -mrbp.p=0.5 qrels run",
    "-q -c -m rbp_resid.p=0.5 -munj.2,1 qrels run",
    "-c -m official commented run",
)


def rows(
    draw: random.Random, items: list[str], most: int, grades: list[int]
) -> list[tuple[str, int]]:
    """Some of the items, each with one of the grades; the first grade is none below 0."""
    chosen = draw.sample(items, draw.randint(1, most))
    return [
        (item, max(0, grades[0]) if place == 0 else draw.choice(grades))
        for place, item in enumerate(chosen)
    ]


def make_files() -> dict[str, str]:
    """Judgments and a run: ties, also in single precision only, queries that one side lacks,
    unjudged items, grades below 0.
    """
    draw = random.Random(SEED)
    items = [f"d{number}" for number in range(24)] + ["Zebra", "école", "a/b", "-x"]
    qrels, groups, prefs, run = list[str](), list[str](), list[str](), list[str]()
    kinds = [[0, 1], [0, 1, 2, 3], [0, -1, -2, 1, 2], [0], [1], [0, 1, 12]]
    for number, grades in enumerate(kinds, start=1):
        query = f"q{number}"
        qrels += [
            f"{query} 0 {item} {grade}" for item, grade in rows(draw, items, len(items), grades)
        ]
        for group in draw.sample(["ann", "bob", "cy"], draw.randint(1, 3)):
            groups += [
                f"{query} {group} {item} {grade}"
                for item, grade in rows(draw, items, 14, [0, 1, 2])
            ]
            level = {item: draw.choice([0, 0, 1, 2, 3]) for item in items}
            for subgroup in range(draw.randint(1, 2)):
                ranked = draw.sample(items, draw.randint(2, 9))
                prefs += [
                    f"{query} {group} s{subgroup} {item} {level[item] * (0.5 + subgroup)}"
                    for item in ranked
                ]
        if query != "q4":
            scores = [
                "1",
                "0.5",
                "1.00000001",
                "-3",
                "1e-3",
                "0.30000000000000004",
                "0.3",
                *(str(draw.random()) for _ in range(6)),
            ]
            listed = draw.sample(items, draw.randint(1, len(items)))
            run += [
                f"{query} Q0 {item} {rank} {draw.choice(scores)} tag{query}"
                for rank, item in enumerate(listed)
            ]
    run += ["q9 Q0 d1 0 1 tagq9", "q5\tQ0  unheard-of 1\t0.3 tagq5"]
    scattered = draw.sample(run, len(run))
    zscores = [
        (
            f"q{number} {name} {draw.choice([0, 0.5, draw.random()]):.4f} "
            f"{draw.choice([0, 0.25, 1]):.4f}"
        )
        for number in range(1, 7)
        for name in (
            "map",
            "P_5",
            "num_rel",
            "num_ret",
            "ndcg",
            "gm_map",
            "num_q",
            "iprec_at_recall_0.00",
            "set_F",
        )
        if draw.random() < 0.8
    ]
    # trec_eval's search reads the entry behind the last one.
    files = {
        "qrels": draw.sample(qrels, len(qrels)),
        "groups": groups,
        "prefs": prefs,
        "run": run,
        "scattered": scattered,
    }
    files |= {
        "zscores": [*zscores, "~ map 0 1", "~~ map 0 1"],
        "commented": ["# a comment", *qrels[:9], "# another", *qrels[9:]],
    }
    return {name: "\n".join(lines) + "\n" for name, lines in files.items()}


def write(version: str, program: str, commands: tuple[str, ...]) -> None:
    """Runs every command and keeps its output and exit code."""
    files = make_files()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text)
        outputs = {}
        for command in commands:
            done = subprocess.run(
                [program, *command.split()], cwd=folder, capture_output=True, text=True, check=False
            )
            outputs[command] = {"exit": done.returncode, "stdout": done.stdout}
    about = {
        "tool": f"trec_eval {version}",
        "command": "python tests/golden/make_trec_eval.py 10.0/trec_eval 9.0.8/trec_eval",
        "date": "2026-11-20",
        "seed": SEED,
    }
    path = HERE / f"trec_eval-{version}" / "outputs.json"
    path.parent.mkdir(exist_ok=True)
    parts = {"about": about, "files": files, "outputs": outputs}
    path.write_text(
        "{"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(part)}" for name, part in parts.items())
        + "}\n"
    )


if __name__ == "__main__":
    write("10.0", sys.argv[1], COMMANDS + ONLY_10)
    write("9.0.8", sys.argv[2], COMMANDS)
