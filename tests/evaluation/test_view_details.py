"""What the protocols leave for a page: places under the reference, overlap of answers, lists of
collapsed captions, items.
"""

import json
import pickle
import random
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from answer_forms import CONTEXT, lines, qa, squad, written
from rankwell.comparison.folders import from_folders
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.tables import Judgments, Values
from rankwell.evaluation.details import detail_columns, details_of
from rankwell.io.result_folder import ITEMS, QUERIES, read_results
from rankwell.reporting.folder import FolderContent, write_folder, write_result
from rankwell.store import encode_id
from rankwell.tasks.crossmodal.task import evaluate_crossmodal
from rankwell.tasks.embeddings.evaluation import evaluate_embeddings
from rankwell.tasks.qa.evaluation import evaluate_qa
from rankwell.tasks.qa.marks import context, overlap, shortened
from rankwell.vectors.media.texts import NORMALIZERS, normalizer


def rows_of(columns: Mapping[str, Sequence[Any]] | None) -> list[dict[str, Any]]:
    assert columns
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


# ---- agreement
# --------------------------------------------------------------------------------------------------


def similarities(vectors: np.ndarray) -> list[list[float]]:
    unit = [
        [x / sum(y * y for y in row) ** 0.5 for x in row]
        for row in vectors.astype(np.float64).tolist()
    ]
    return [[sum(x * y for x, y in zip(one, other, strict=True)) for other in unit] for one in unit]


def test_agreement_lists_rank_similarity_and_margin_under_the_reference() -> None:
    draw = np.random.default_rng(5)
    reference = draw.standard_normal((30, 4)).astype(np.float32)
    candidate = (reference + 0.6 * draw.standard_normal((30, 4))).astype(np.float32)
    k = 5

    result = evaluate_embeddings(
        reference, {"small": candidate}, k=k, samples="all", intervals="none", details=True
    )
    rows, queries = rows_of(result.details), rows_of(result.queries)

    known = similarities(reference)
    assert len(rows) > 30 * k
    for row in rows:
        query, item, detail = int(row["query"]), int(row["item"]), json.loads(row["detail"])
        order = sorted(
            (each for each in range(30) if each != query),
            key=lambda each: (-known[query][each], each),
        )
        last = known[query][order[k - 1]]
        assert detail["reference_rank"] == order.index(item) + 1
        assert detail["reference_score"] == pytest.approx(known[query][item], abs=1e-6)
        assert detail["margin"] == pytest.approx(known[query][item] - last, abs=1e-6)
        assert (detail["margin"] >= 0) == (row["state"] == "relevant")
    for row in queries:
        scores = sorted(
            (
                score
                for each, score in enumerate(known[int(row["query"])])
                if each != int(row["query"])
            ),
            reverse=True,
        )
        assert row["margin"] == pytest.approx(scores[k - 1] - scores[k], abs=1e-6)
        near = [
            score
            for score in scores
            if abs(abs(score - scores[k - 1]) - 0.005) > 1e-5 and abs(score - scores[k - 1]) < 0.005
        ]
        assert row["near_cut"] == len(near) - 1


def test_agreement_leaves_out_what_the_reference_does_not_list() -> None:
    draw = np.random.default_rng(5)
    reference, candidate = draw.standard_normal((400, 6)), draw.standard_normal((400, 6))

    result = evaluate_embeddings(
        reference,
        {"small": candidate},
        k=3,
        samples=20,
        intervals="none",
        convention="scholar-stream",
        details=True,
    )
    details = [json.loads(row["detail"]) for row in rows_of(result.details)]

    # Without intervals this convention's lists end at k: who is not in them has no rank, and
    # nothing follows the last one.
    assert any(
        each == {"reference_rank": None, "reference_score": None, "margin": None}
        for each in details
    )
    assert "margin" not in rows_of(result.queries)[0]


# ---- answers
# --------------------------------------------------------------------------------------------------

WORDS = [
    "the",
    "The",
    "le",
    "l'eau",
    "L'École,",
    "aujourd'hui",
    "don't",
    "d.",
    "-",
    "北京",
    "大学 ",
    "A+",
    "🌍",
    "new",
    "york",
    "New-York",
    "İ",
]


def token_f1(one: str, other: str, forms: Any) -> float:
    """As SQuAD's script counts it, by the normal form of the whole text."""
    first, second = forms(one).split(), forms(other).split()
    shared = sum((Counter(first) & Counter(second)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(first), shared / len(second)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("name", sorted(NORMALIZERS))
def test_the_overlap_that_is_marked_is_what_f1_counts(name: str) -> None:
    draw, forms = random.Random(name), normalizer(name)
    for _ in range(150):
        one, other = (" ".join(draw.choices(WORDS, k=draw.randint(1, 6))) for _ in range(2))

        both = overlap(one, other, offset=None, normalizer=forms)

        assert both.token_f1 == pytest.approx(token_f1(one, other, forms)), (one, other)
        assert bool(both.tokens[0]) == bool(both.tokens[1]) == (both.token_f1 > 0), (
            one,
            other,
            both,
        )
        for text, spans in zip((one, other), both.tokens, strict=True):
            assert all(text[start:end].strip() for start, end in spans)
            assert spans == tuple(sorted(set(spans)))


def test_an_article_alone_is_not_what_it_is_among_words() -> None:
    assert overlap("le chat", "chat", offset=None, normalizer=normalizer("french")).token_f1 == 1
    assert overlap("北京大学", "大学", offset=None, normalizer=normalizer("mlqa-zh")).tokens == (
        ((2, 3), (3, 4)),
        ((0, 1), (1, 2)),
    )


def marked(cut: dict[str, Any] | None) -> list[tuple[str, str]]:
    assert cut is not None
    return [(cut["text"][start:end], word) for start, end, word in cut["spans"]]


def test_a_context_marks_what_is_answered_and_what_is_right() -> None:
    text = "Marie Curie was born in Warsaw in 1867."

    assert marked(context(text, (24, 30), [(24, 38)])) == [("Warsaw", "both"), (" in 1867", "gold")]
    assert marked(context(text, (0, 11), [(24, 30)])) == [
        ("Marie Curie", "predicted"),
        ("Warsaw", "gold"),
    ]
    assert marked(context(text, (20, 27), [(24, 30)])) == [
        (" in ", "predicted"),
        ("War", "both"),
        ("saw", "gold"),
    ]
    assert marked(context(text, None, [(34, 38)])) == [("1867", "gold")]
    assert context(text, None, []) is None
    assert context(text, (30, 99), [(-1, 5)]) is None


def test_a_context_is_cut_between_words_and_stays_short() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    start = text.index("word500")

    cut = context(text, (start, start + 7), [])

    assert cut is not None
    assert cut["text"].startswith("… word")
    assert cut["text"].endswith(" …")
    assert set(cut["text"].split()) - {"…"} <= set(text.split())
    assert marked(cut) == [("word500", "predicted")]
    assert len(context(text, (0, 5000), [])["text"]) < 410  # pyright: ignore[reportOptionalSubscript]
    assert shortened(text, 20) == "word0 word1 word2 …"
    assert shortened("short", 20) == "short"


def test_a_reader_alone_has_lists_with_contexts_and_how_sure_it_is_that_there_is_none(
    tmp_path: Path,
) -> None:
    gold = squad(qa("q1"), qa("q2"))
    given = [
        {"id": "q1", "rank": 1, "text": "France", "no_answer": 0.25},
        {"id": "q1", "rank": 2, "text": "Paris"},
        {"id": "q2", "rank": 1, "text": "Rome"},
    ]
    place = lines(tmp_path / "given.jsonl", *given)

    result = evaluate_qa(
        written(tmp_path / "gold.json", gold), place, convention="squad2", details=True
    )
    rows = rows_of(result.details)

    assert [(row["query"], row["item"], row["rank"], row["state"]) for row in rows] == [
        ("q1", "France", 1, "nonrelevant"),
        ("q1", "Paris", 2, "relevant"),
        ("q2", "Rome", 1, "nonrelevant"),
        ("q2", "Paris", None, "relevant"),
    ]
    first, second, other, missing = (json.loads(row["detail"]) for row in rows)
    assert first["no_answer"] == 0.25
    assert "no_answer" not in second
    assert "no_answer" not in other
    # Answers without a position are found in the question's own paragraph; one that is not there
    # shows the right one.
    assert marked(first["context"]) == [("Paris", "gold"), ("France", "predicted")]
    assert marked(second["context"]) == [("Paris", "both")]
    assert marked(other["context"]) == [("Paris", "gold")]
    assert "context" not in missing
    assert result.items == {}


def test_documents_of_a_retriever_bring_the_beginning_of_what_they_say(tmp_path: Path) -> None:
    gold = squad(qa("q1"), id="d1")
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 2.0 x\nq1 Q0 d9 2 1.0 x\n")

    result = evaluate_qa(
        written(tmp_path / "gold.json", gold), retrieved=tmp_path / "bm25.run", details=True
    )

    assert rows_of(result.items) == [{"item": "d1", "of": "bm25", "text": CONTEXT}]


# ---- captions
# --------------------------------------------------------------------------------------------------


def order_of(best: Sequence[float], ties: str) -> list[int]:
    videos: Iterable[int] = range(len(best))
    if ties == "input-desc":
        videos = reversed(range(len(best)))
    elif ties in ("id-asc", "id-desc"):
        videos = sorted(range(len(best)), key=str, reverse=ties == "id-desc")
    return sorted(videos, key=lambda video: -best[video])


@pytest.mark.parametrize("ties", ["input", "input-desc", "id-asc", "id-desc"])
@pytest.mark.parametrize("levels", [3, 1000])
def test_collapsed_captions_have_the_first_twenty_videos(ties: str, levels: int) -> None:
    draw = np.random.default_rng(levels)
    for _ in range(6):
        n = int(draw.integers(2, 45))
        positives = [[video] for video in range(n) for _ in range(int(draw.integers(1, 5)))]
        draw.shuffle(positives)
        if n > 2:
            positives[0] = sorted({positives[0][0], (positives[0][0] + 1) % n})
        scores = draw.integers(0, levels, (len(positives), n)).astype(np.float32)

        result = evaluate_crossmodal(
            scores, positives, direction="v2t-videos", details=True, intervals="none", ties=ties
        )

        found: dict[str, list[tuple[float, str, float, str]]] = {}
        for row in rows_of(result.details):
            found.setdefault(row["query"], []).append(
                (row["rank"], row["item"], row["score"], row["state"])
            )
        for video in range(n):
            best = [
                max(float(scores[at, video]) for at, right in enumerate(positives) if each in right)
                for each in range(n)
            ]
            order = order_of(best, ties)
            shown = [*order[:20], *([video] if order.index(video) >= 20 else [])]
            states = ["relevant" if each == video else "nonrelevant" for each in shown]
            assert found[str(video)] == [
                (order.index(each) + 1, str(each), best[each], state)
                for each, state in zip(shown, states, strict=True)
            ]


def test_items_say_what_captions_say_and_videos_what_their_captions_say() -> None:
    said = ["a car", "a bus", "a car", "a dog", "a cat", "a cow", "a hen", "a pig"]

    result = evaluate_crossmodal(
        np.eye(8, 2),
        [[0], [1], [0], [1], [1], [1], [1], [1]],
        queries=said,
        details=True,
        intervals="none",
    )

    found = {(row["item"], row["of"]): row["text"] for row in rows_of(result.items)}
    assert [found[str(row), "v2t"] for row in range(8)] == said
    assert found["0", "t2v"] == "a car"
    assert found["1", "t2v"] == "a bus · a dog · a cat · a cow · a hen · 1 more"
    assert len(found) == 10


def test_items_of_captions_without_texts_are_unknown() -> None:
    assert evaluate_crossmodal(np.eye(3), details=True, intervals="none").items == {}


# ---- folders
# --------------------------------------------------------------------------------------------------


def written_folder(
    place: Path, run: str, items: Mapping[str, Sequence[Any]], picture: str | None
) -> Path:
    values = Values(run, "RR", "RR", "share", "mean", ("q1", "q2"), np.array([1.0, 0.5]))
    details = {
        "run": [run],
        "query": ["q1"],
        "item": ["i1"],
        "rank": [1],
        "score": [2.0],
        "grade": [1.0],
        "state": ["relevant"],
    }
    queries = {"query": ["q1", "q2"], "picture_item": [picture, None], "kind": ["x", "y"]}
    rows = [
        {
            "run": run,
            "measure": "RR",
            "label": "RR",
            "mean": 0.75,
            "sd": None,
            "ci_low": None,
            "ci_high": None,
            "n": 2,
            "unit": "share",
        }
    ]
    content = FolderContent(
        summary=rows,
        values=[values],
        rules={},
        findings=[],
        manifest={},
        details=details,
        queries=queries,
        items=items,
    )
    write_folder(place, content, charts=False)
    return place


def test_items_read_back_and_a_picture_is_not_an_attribute(tmp_path: Path) -> None:
    place = written_folder(
        tmp_path / "one",
        "one",
        {"item": ["i1"], "thumbnail": ["data:,x"], "width": [3], "height": [2]},
        "i1",
    )

    found = read_results(place)

    assert found.table(ITEMS) == {
        "item": ["i1"],
        "of": [None],
        "text": [None],
        "thumbnail": ["data:,x"],
        "width": [3],
        "height": [2],
        "problem": [None],
    }
    assert found.table(QUERIES)["picture_item"] == ["i1", None]
    assert set(found.attributes) == {"kind"}
    assert "items.parquet" in json.loads((place / "manifest.json").read_text())["files"]


def test_a_folder_without_known_items_has_no_table_of_them(tmp_path: Path) -> None:
    place = written_folder(tmp_path / "one", "one", {}, None)

    assert not (place / "items.parquet").exists()
    assert read_results(place).table("items.parquet") == {}


def test_a_comparison_keeps_what_its_folders_know_of_items(tmp_path: Path) -> None:
    one = written_folder(
        tmp_path / "one",
        "one",
        {"item": ["i1", "i2"], "of": [None, "one"], "text": ["first", "own"]},
        "i1",
    )
    two = written_folder(
        tmp_path / "two",
        "two",
        {"item": ["i1", "i3"], "of": [None, None], "text": ["second", "third"]},
        None,
    )

    origin = from_folders([("A", read_results(one)), ("B", read_results(two))], details=True).origin

    assert [(row["item"], row["of"], row["text"]) for row in rows_of(origin.items)] == [
        ("i1", None, "first"),
        ("i2", "A", "own"),
        ("i3", None, "third"),
    ]
    assert rows_of(origin.queries)[0]["picture_item"] == "i1"


# ---- details of any ranking
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_details_are_those_of_looking_at_every_item_of_every_query(seed: int) -> None:
    draw = random.Random(seed)
    items, repeated = (
        [f"i{number}" for number in range(draw.randint(1, 9))] + ["é", "z\udcff"],
        seed % 3 == 0,
    )
    judged = {
        query: {item: draw.choice([-1, 0, 1, 2]) for item in items if draw.random() < 0.5}
        for query in ("p", "q", "r")
    }
    junk = {query: {item for item in items if draw.random() < 0.2 * (seed % 2)} for query in judged}
    lists = {
        query: draw.choices(items, k=6) if repeated else draw.sample(items, min(3, len(items)))
        for query in ("p", "r", "s")
    }
    rows = [
        (query, item, 9.0 - place)
        for query, listed in lists.items()
        for place, item in enumerate(listed)
    ]
    truth, keep = Judgments.from_dict(judged).with_junk(junk), draw.choice([1, 3, 20])

    hits = hits_of_ranking(
        Ranking.from_rows(*zip(*rows, strict=True), repeated=repeated), truth, keep=keep
    )
    lowest = draw.choice([1, 2])
    found = details_of(truth, hits, JudgedRankings.join(truth, hits), lowest)

    rows = list(
        zip(*(detail_columns([("run", found, None)])[name] for name in found._fields), strict=True)
    )
    assert rows == [
        row
        for query in judged
        for row in plain_details(
            lists.get(query, []), judged[query], junk[query], keep, query, lowest
        )
    ]


@pytest.mark.parametrize(
    ("measures", "min_grade", "relevant"),
    [
        (["nDCG@10"], None, ["a", "b"]),
        (["P@1", "P(rel=2)@1"], None, ["a", "b"]),
        (["P(rel=2)@1", "nDCG(rel=2)@10"], None, ["b"]),
        (["P@1", "nDCG@10"], 2, ["b"]),
    ],
)
def test_what_a_page_calls_relevant_is_what_the_measures_do(
    measures: list[str], min_grade: float | None, relevant: list[str]
) -> None:
    result = rw.evaluate(
        {"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}, measures, min_grade=min_grade, details=True
    )

    details = result.details or {}
    states = dict(zip(details["item"], details["state"], strict=True))
    assert [item for item, state in states.items() if state == "relevant"] == relevant


def plain_details(
    listed: list[str], grades: dict[str, int], junk: set[str], keep: int, query: str, lowest: int
) -> list[tuple[Any, ...]]:
    """Ranked items by rank, then junk of the list in its order, then the rest by id."""
    ranked = [item for item in listed if item not in junk]
    near = [item for item in dict.fromkeys(listed) if listed.index(item) < keep]
    shown = [item for item in dict.fromkeys(ranked) if item in near or item in grades]
    excluded = [item for item in near if item in junk]
    rest = sorted((junk | set(grades)) - {*shown, *excluded}, key=encode_id)
    rows = []
    for item in [*shown, *excluded, *rest]:
        grade = None if item in junk or item not in grades else float(grades[item])
        state = (
            "junk"
            if item in junk
            else "unjudged"
            if grade is None
            else "relevant"
            if grade >= lowest
            else "nonrelevant"
        )
        rank = float(ranked.index(item) + 1) if item in shown else None
        score = 9.0 - listed.index(item) if item in [*shown, *excluded] else None
        rows.append((query, item, rank, score, grade, state))
    return rows


def test_ids_with_line_ends_are_first_items_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"q": {"a\\nb": 3, "c": 2, "é\\n": 1}}', encoding="utf-8")

    found = rw.evaluate(
        {"q": {"c": 1, "z": 1}}, tmp_path / "run.json", "RR", details=True, intervals="none"
    ).details

    assert found is not None
    assert found["item"] == ["a\nb", "c", "é\n", "z"]


def test_details_are_written_without_a_python_object_for_each_cell(tmp_path: Path) -> None:
    queries, depth = 2_000, 10
    (tmp_path / "qrels").write_text(
        "".join(f"{query} 0 i{query % 7} 1\n" for query in range(queries))
    )
    lines = (
        f"{query} Q0 i{item} 1 {depth - item} x\n"
        for query in range(queries)
        for item in range(depth)
    )
    (tmp_path / "run").write_text("".join(lines))
    result = rw.evaluate(tmp_path / "qrels", tmp_path / "run", "RR", details=True, intervals="none")

    tracemalloc.start()
    write_result(result, tmp_path / "out", charts=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 40 * queries * depth
    assert read_results(tmp_path / "out").table("details.parquet") == dict(result.details or {})


def test_results_with_details_go_to_another_process() -> None:
    runs = {"one": {"q": {"a": 2.0, "b": 1.0}}, "two": {"q": {"b": 2.0, "c": 1.0}}}
    result = rw.evaluate({"q": {"a": 1}}, runs, "RR", details=True, intervals="none")

    restored = pickle.loads(pickle.dumps(result))

    assert dict(restored.details) == dict(result.details or {})
    assert str(restored) == str(result)
