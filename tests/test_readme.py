"""README and tour as a newcomer types them: every command line and Python block runs, and prints
the figures of the text.
"""

import contextlib
import inspect
import io
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankwell import cli, eval_q2m
from rankwell.compat import sentence_transformers
from rankwell.conventions import find_convention
from rankwell.data.catalogue import DROP_IN, find_command
from rankwell.data.tables import TIE_RULES
from rankwell.stats import FEW_QUERIES, MIN_QUERIES, summarise
from rankwell.tasks.judge.batches import lease_batch
from rankwell.tasks.judge.folder import JournalLine, append_lines, now, read_study
from rankwell.vectors.media.python_docs import read_needs
from regression.comparing import same_environment

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "docs/tour.md", "docs/comparison.md")
README = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
NOT_TYPED = {
    "pip ": "it installs packages",
    "make ": "it runs all tests, or all benchmarks",
    "rankwell judge label mine ": "it waits for a judge, whose grades are written before the "
    "next line",
}
"""Beginnings of lines that no test types, with the reason."""


def blocks(language: str) -> list[str]:
    return [text for kind, text in BLOCKS if kind == language]


def small_files(_: Path) -> None:
    """Judgments and two runs of the reader's own."""
    Path("qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    for name, first, second in (("bm25", "d1", "d2"), ("dense", "d2", "d1")):
        Path(f"{name}.run").write_text(
            f"q1 Q0 {first} 1 2.0 x\nq1 Q0 {second} 2 1.0 x\nq2 Q0 {second} 1 1.0 x\n"
        )


def column_files(place: Path) -> None:
    """The same without headers, or under other names."""
    small_files(place)
    Path("ratings.dat").write_text("q1::d1::5::978300760\nq2::d2::4::978300761\n")
    Path("grades.csv").write_text("query,item,relevance,strict\nq1,d1,1,1\nq2,d2,1,0\n")
    Path("scores.tsv").write_text("q1\td1\t1\t2.5\nq1\td2\t2\t1.5\nq2\td1\t1\t3.5\n")
    Path("a.run").write_text("q1 Q0 d1 1 2.0 x\nq2 Q0 d1 1 2.0 x\n")


def squad_files(_: Path) -> None:
    questions = [
        {
            "id": "a",
            "question": "Where is Nice?",
            "is_impossible": False,
            "answers": [{"text": "Monaco", "answer_start": 13}],
        },
        {"id": "b", "question": "Who is Nice?", "is_impossible": True, "answers": []},
    ]
    article = {
        "title": "Nice",
        "paragraphs": [{"context": "Nice is near Monaco.", "qas": questions}],
    }
    Path("dev-v2.0.json").write_text(json.dumps({"version": "v2.0", "data": [article]}))
    Path("predictions.json").write_text(json.dumps({"a": "Monaco", "b": ""}))
    Path("na_prob.json").write_text(json.dumps({"a": 0.1, "b": 0.9}))


def answer_files(demos: Path) -> None:
    for name in ("questions.json", "answers.jsonl", "bm25.run"):
        shutil.copy(demos / "answers" / name, name)


def grid_files(_: Path) -> None:
    dataset = (
        '[[dataset]]\nname = "nice"\ncommand = "qa"\ngold = "dev-v2.0.json"\nconvention = '
        '"squad2"\n'
    )
    Path("grid.toml").write_text(
        f'{dataset}\n[[system]]\nname = "reader"\npredictions = "predictions.json"\n'
        '[chart]\nmeasures = ["exact"]\n'
    )


def museum_bench(_: Path) -> None:
    Path("museum.toml").write_text(
        '[table]\nresults = ["results/colours"]\ncosts = true\npublished = true\n'
    )


def clip_files(_: Path) -> None:
    shutil.copy("clips/unified_annotation.csv", "clips.csv")
    shutil.copytree("clips/clips", "videos")
    ids = Path("clips/edges_ahead.ids.txt").read_text().split()
    pq.write_table(
        pa.table({"id": ids, "embedding": np.load("clips/edges_ahead.npy").tolist()}),
        "clips.parquet",
    )


def image_files(_: Path) -> None:
    rows = ["image,instance,split"]
    for split, folder in (("reference", "references"), ("query", "queries")):
        images = sorted(Path("museum/paintings", folder).glob("*/*.jpg"))
        rows += [f"{path},{path.parent.name},{split}" for path in images]
    Path("museum.csv").write_text("\n".join(rows) + "\n")


def judged_study(_: Path) -> None:
    study = read_study("mine")
    batch = lease_batch(study, "me")
    assert batch is not None
    append_lines(
        study,
        [
            JournalLine(now(), "me", *pair, float(number % 3))
            for number, pair in enumerate(batch.pairs)
        ],
    )


OWN_FILES: dict[str, Callable[[Path], None]] = {
    "rankwell judge estimate mine": judged_study,
    "rankwell evaluate qrels.txt": small_files,
    "rankwell compare qrels.txt": small_files,
    "rankwell evaluate ratings.dat": column_files,
    "rankwell qa dev-v2.0.json": squad_files,
    "rankwell qa questions.json": answer_files,
    "rankwell bench grid.toml": grid_files,
    "rankwell bench museum.toml": museum_bench,
    "rankwell keywords --annotations": clip_files,
    "rankwell images museum.csv": image_files,
    "rankwell trec-eval": small_files,
}
"""What writes the files that a command line takes for the reader's own, by its beginning."""


def typed() -> list[tuple[int, str]]:
    """The command lines with the number of their block, in order."""
    found: list[tuple[int, str]] = []
    for number, (kind, text) in enumerate(BLOCKS):
        lines = [
            line.removeprefix("$ ")
            for line in text.splitlines()
            if kind == "sh" or line.startswith("$ ")
        ]
        found += [
            (number, line)
            for line in lines
            if kind in ("sh", "console") and not line.startswith((*NOT_TYPED,))
        ]
    return found


@pytest.mark.slow
def test_every_command_line_runs_and_prints_the_figures_that_the_readme_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], minilm: str
):
    printed: dict[str, str] = {}
    lines = typed()
    assert len(lines) >= 25
    for number, line in lines:
        # Lines at a prompt follow each other; those of other blocks are about files of the reader's
        # own.
        folder = tmp_path / ("typed" if BLOCKS[number][0] == "console" else str(number))
        folder.mkdir(exist_ok=True)
        monkeypatch.chdir(folder)
        if "all-MiniLM-L6-v2" in line:
            Path("all-MiniLM-L6-v2").symlink_to(minilm)
        for beginning, write in OWN_FILES.items():
            if line.startswith(beginning):
                write(tmp_path / "typed")
        words = [
            name
            for word in shlex.split(line, comments=True)
            for name in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
        ]
        monkeypatch.setattr("sys.argv", words)

        code = cli.main()

        printed[line], err = capsys.readouterr()
        assert code == 0, (line, err)
        assert printed[line] or " convert " in line, line

    if same_environment():
        # The demo's documents are those of the Python that runs.
        rules, line = (
            " ".join(blocks("text")[0].split()),
            "rankwell evaluate demo/qrels.txt demo/whole_docs.run --verbose",
        )
        assert rules in " ".join(
            printed[next(each for each in printed if each.startswith(line))].split()
        )
        sentence = re.search(r"begins with a sentence such as \*(.*?)\*", README, re.DOTALL)
        assert sentence is not None
        assert printed[next(line for line in printed if " compare " in line)].startswith(
            " ".join(sentence[1].split())
        )


NUMBERS = {"five": 5, "six": 6, "seven": 7}
SHOWN = {
    r"asks (\d+) hand-judged questions": lambda: len(read_needs()),
    r"\| stated, (\w+) to choose from": lambda: len(TIE_RULES),
    r"bootstrap of ([\d,]+) resamples": lambda: (
        inspect.signature(summarise).parameters["resamples"].default
    ),
    r"Below (\d+) queries there is none": lambda: MIN_QUERIES,
    r"below (\d+) `small-sample` says": lambda: FEW_QUERIES,
    r"hgr_v2t's (\w+) figures": lambda: len(eval_q2m([[0.9, 0.1], [0.8, 0.3]], [[0], [1]])),
    r"`rankwell.compat.sentence_transformers` has (\w+) of": lambda: sum(
        name.endswith("Evaluator") for name in sentence_transformers.__all__
    ),
}
"""Figures of the text by the words around them, with what they are today."""
VERSIONS = r"Python 3\.11|SQuAD 1\.1 and 2\.0|trec_eval 10 |9\.0\.8"


@pytest.mark.parametrize("words", SHOWN)
def test_a_figure_of_the_text_is_what_it_is_today(words: str):
    found = re.search(words, README)

    assert found is not None
    assert (NUMBERS.get(found[1]) or int(found[1].replace(",", ""))) == SHOWN[words]()


def test_no_other_figure_stands_in_the_text():
    """The sentence of `compare` is compared where the command is typed; the table of speeds is what
    `make bench` writes.
    """
    text = re.sub(
        r"^```\w+\n.*?^```|<!-- speed -->.*?<!-- /speed -->",
        "",
        README,
        flags=re.MULTILINE | re.DOTALL,
    )
    text = re.sub(r"a sentence such as \*.*?\*|`[^`]*`", "", text, flags=re.DOTALL)

    assert re.findall(r"\d+\.\d+", re.sub(VERSIONS, "", text)) == []


@pytest.mark.parametrize("example", blocks("python"), ids=range(len(blocks("python"))))
def test_every_python_example_runs_and_prints_what_its_comments_show(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()

    with contextlib.redirect_stdout(out):
        exec(compile(example, "README.md", "exec"), {})

    shown = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
    assert [line for line in out.getvalue().splitlines() if line in shown] == shown


def test_the_readme_has_no_other_blocks_and_names_commands_that_there_are():
    assert {kind for kind, _ in BLOCKS} == {"console", "sh", "python", "text", "toml"}
    assert len(blocks("text")) == 1
    for words in (shlex.split(text) for text in re.findall(r"`rankwell ([a-z][^`]*)`", README)):
        assert words[0] == DROP_IN or find_command(words), words


@pytest.mark.parametrize("rules", blocks("toml"), ids=range(len(blocks("toml"))))
def test_every_file_of_rules_is_a_convention(rules: str, tmp_path: Path):
    (tmp_path / "mine.toml").write_text(rules, encoding="utf-8")

    convention = find_convention(str(tmp_path / "mine.toml"), "qa")

    assert convention.words["exact"] == "AnswerEM(normalizer='french')@1"


def test_the_readme_is_short_and_its_pictures_are_small():
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert text.count("\n") < 200
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert picture.stat().st_size < 100_000, picture.name
