"""TREC run files as a format: read whole, searched for judged items, written."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Ranking
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadLine, DuplicateItem
from rankwell.io import mapping, trec
from rankwell.io.formats import check_ranking, find_hits
from rankwell.store import Source

RUN = b"7 Q0 b 1 2.5 x\n\n7 Q0 a 2 -1e-3 x\n10 Q0 a 1 3 x\n"


def written(folder: Path, content: bytes) -> Source:
    path = folder / "my.run"
    path.write_bytes(content)
    return Source(path)


def test_a_run_is_read_whole_and_in_the_order_of_the_file(tmp_path: Path):
    ranking = trec.read_run(written(tmp_path, RUN))

    assert ranking.queries == ("10", "7")
    assert ranking.offsets.tolist() == [0, 1, 3]
    assert list(ranking.items) == ["a", "b", "a"]
    assert ranking.scores.tolist() == [3.0, 2.5, -0.001]


def test_reading_whole_names_both_lines_of_a_duplicate(tmp_path: Path):
    source = written(tmp_path, RUN + b"7 Q0 b 3 1.5 x\n")

    with pytest.raises(
        DuplicateItem, match=r"my\.run:5: query '7' lists item 'b' twice, in lines 1 and 5;"
    ):
        trec.read_run(source)


def test_reading_whole_refuses_what_searching_refuses(tmp_path: Path):
    source = written(tmp_path, RUN + b"7 0 c 1\n")

    for read in (
        trec.read_run,
        lambda source: find_hits(source, Judgments.from_dict({"7": {"a": 1}}), format="trec"),
    ):
        with pytest.raises(BadLine, match=r"my\.run:5: 4 fields in '7 0 c 1'.*qrels"):
            read(source)


def test_what_is_written_is_read_again_to_the_last_bit(tmp_path: Path):
    odd = {
        "q\udcff": {"é": 0.1 + 0.2, "b": 1e-300, "a": 1e-300, "d": -0.0, "e": 2.0**60},
        "p": {"x": 1 / 3},
    }
    ranking = Ranking.from_dict(odd)

    trec.write_run(ranking, tmp_path / "out.run", tag="me")

    again = trec.read_run(Source(tmp_path / "out.run"))
    assert {
        query: dict(zip(again.items[start:stop], again.scores[start:stop].tolist(), strict=True))
        for query, start, stop in zip(
            again.queries, again.offsets[:-1], again.offsets[1:], strict=True
        )
    } == odd
    first = (tmp_path / "out.run").read_bytes().splitlines()[0]
    assert first == b"p Q0 x 1 0.3333333333333333 me"


def test_written_ranks_follow_the_scores_and_ties_keep_their_order(tmp_path: Path):
    trec.write_run(Ranking.from_dict({"1": {"low": 1.0, "b": 2.0, "a": 2.0}}), tmp_path / "out.run")

    assert (
        tmp_path / "out.run"
    ).read_text() == "1 Q0 b 1 2.0 rankwell\n1 Q0 a 2 2.0 rankwell\n1 Q0 low 3 1.0 rankwell\n"


@pytest.mark.parametrize("name", ["two words", "tab\there", "", "line\nend"])
def test_an_id_that_would_break_the_line_is_not_written(name: str, tmp_path: Path):
    with pytest.raises(BadInput, match="white space"):
        trec.write_run(Ranking.from_dict({"1": {name: 1.0}}), tmp_path / "out.run")


def test_a_check_finds_duplicates_and_ranks_against_scores(tmp_path: Path):
    lines = [
        "1 Q0 a 1 2.0 x",
        "1 Q0 b 2 3.0 x",
        "2 Q0 a 1 3.0 x",
        "2 Q0 b 2 3.0 x",
        "2 Q0 a 3 1.0 x",
        "3 Q0 a 2 1.0 x",
        "3 Q0 b 1 2.0 x",
    ]
    path = tmp_path / "my.run"
    path.write_text("\n".join(lines) + "\n")

    found = check_ranking(path)

    assert list(found.duplicated) == ["2"]
    assert list(found.contradicting) == ["1"]
    assert found.format == "trec"


def test_a_run_and_its_mapping_give_the_same_view(tmp_path: Path):
    rng = np.random.default_rng(3)
    run = {
        f"q{query}": {
            f"d{item}": float(rng.integers(30)) / 4 for item in rng.permutation(200)[:80].tolist()
        }
        for query in range(40)
    }
    truth = Judgments.from_dict(
        {f"q{query}": {f"d{item}": item % 3 for item in range(60)} for query in range(45)}
    )
    trec.write_run(Ranking.from_dict(run), tmp_path / "my.run")

    for ties in ("id-desc", "id-asc"):
        one = JudgedRankings.join(truth, find_hits(tmp_path / "my.run", truth, ties=ties).hits)
        other = JudgedRankings.join(truth, mapping.find_hits(run, truth, ties=ties))
        assert one.ranks.tolist() == other.ranks.tolist()
        assert one.items.tolist() == other.items.tolist()
        assert one.n_retrieved.tolist() == other.n_retrieved.tolist()


@pytest.mark.parametrize("name", ["NLPR03vb10", "Sel50", "pircRBa1", "uic0301"])
def test_real_runs_are_ranked_as_sorting_ranks_them(name: str, shared: Path):
    folder = shared / "trec" / "robust03"
    qrels: dict[str, dict[str, float]] = {}
    for line in gzip.decompress((folder / "qrels.txt.gz").read_bytes()).decode().splitlines():
        query, _, item, grade = line.split()
        qrels.setdefault(query, {})[item] = float(grade)
    rows: dict[str, list[tuple[float, str]]] = {}
    for line in gzip.decompress((folder / f"{name}.run.gz").read_bytes()).decode().splitlines():
        query, _, item, _, score, _ = line.split()
        rows.setdefault(query, []).append((float(score), item))
    truth = Judgments.from_dict(qrels)

    view = JudgedRankings.join(truth, find_hits(folder / f"{name}.run.gz", truth).hits)

    for position, query in enumerate(truth.queries):
        ranking = [item for _, item in sorted(rows.get(query, []), reverse=True)]
        mine = slice(view.offsets[position], view.offsets[position + 1])
        wanted = [(rank, item) for rank, item in enumerate(ranking, 1) if item in qrels[query]]
        assert [
            (rank, truth.items[row])
            for rank, row in zip(view.ranks[mine], view.items[mine], strict=True)
        ] == wanted
