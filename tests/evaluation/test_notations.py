"""Ids that judgments and a run write differently in a part of the queries or items, and what the
figure would be.
"""

import json
import random
import unicodedata
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.errors import BadInput
from rankwell.evaluation.mistakes import CERTAIN, IdPair, certain_form, match_queries, notation_of

Run = dict[str, dict[str, float]]
CITIES = (
    "Évian",
    "Zürich",
    "Málaga",
    "Łódź",
    "Århus",
    "Nîmes",
    "Brasília",
    "Kraków",
    "Göteborg",
    "Orléans",
)


def world(n: int = 100) -> tuple[dict[str, dict[str, int]], Run]:
    """One relevant item a query, which the run has first."""
    qrels = {f"Q{query:03}": {f"Doc{query:03}": 1} for query in range(1, n + 1)}
    run = {
        query: {item: 2.0, f"other-{query}": 1.0}
        for query, judged in qrels.items()
        for item in judged
    }
    return qrels, run


def notes_on_ids(qrels: object, runs: object, *measures: str, **options: object) -> list[str]:
    """What is said on the ids, whether it stops the evaluation or not."""
    try:
        findings = rw.evaluate(qrels, runs, *measures, **options).findings
    except BadInput as error:
        return [str(error)]
    return [finding for finding in findings if "would" in finding]


def test_thirty_of_a_hundred_queries_in_lower_case_are_named_with_the_figure():
    qrels, run = world()
    run = {
        query.lower() if number < 30 else query: items
        for number, (query, items) in enumerate(run.items())
    }

    found = {finding.name: finding for finding in rw.check(qrels, {"mine": run})}

    (note,) = notes_on_ids(qrels, {"mine": run}, "RR")
    assert note.startswith(
        "mine: 30 of the 30 judged queries that it lacks would match if differences of case "
        "were ignored"
    )
    assert "RR would be 1.0000 in place of 0.7000" in note
    assert found["query-ids-in-two-notations"].level == "error"
    assert len(found["query-ids-in-two-notations"].queries) == 30


SPELLINGS = {
    "encodings (Latin-1 for UTF-8)": lambda text: text.encode().decode("latin-1"),
    "Unicode normal forms": lambda text: unicodedata.normalize("NFD", text),
    "zero-width characters": lambda text: f"{text}\u200b",
    "percent-encoding": lambda text: text.replace("ö", "%C3%B6").replace("0", "%30"),
    "blanks around ids": lambda text: f" {text}",
    "quotes around ids": lambda text: f'"{text}"',
    "differences of case": str.upper,
    "leading zeros": lambda text: text.replace("doc", "doc0"),
    "suffixes of chunks": lambda text: f"{text}#c3",
}


@pytest.mark.parametrize("notation", SPELLINGS)
@pytest.mark.parametrize("form", ["object", "json", "tsv", "trec"])
def test_four_of_twelve_relevant_items_in_another_notation_are_named_with_the_figure(
    notation: str, form: str, tmp_path: Path
):
    if form == "trec" and notation == "blanks around ids":
        pytest.skip("fields of a TREC run have no blanks")
    qrels = {f"q{number}": {f"döc{number + 1}": 1, f"doc{number + 1}": 1} for number in range(12)}
    run: Run = {
        query: {item: 3.0 - place for place, item in enumerate([*judged, "x"])}
        for query, judged in qrels.items()
    }
    spell = SPELLINGS[notation]
    altered = {
        query: {spell(item) if int(query[1:]) < 4 else item: score for item, score in items.items()}
        for query, items in run.items()
    }
    n = sum(spell(item) != item for query in list(run)[:4] for item in qrels[query])
    rows = [
        (query, item, score) for query, items in altered.items() for item, score in items.items()
    ]
    place: object = tmp_path / f"run.{form}"
    if form == "object":
        place = altered
    elif form == "json":
        (tmp_path / "run.json").write_text(json.dumps(altered))
    elif form == "tsv":
        lines = [f"{query}\t{item}\t{score}\n" for query, item, score in rows]
        (tmp_path / "run.tsv").write_text("query\titem\tscore\n" + "".join(lines))
    else:
        (tmp_path / "run.trec").write_text(
            "".join(f"{query} Q0 {item} 0 {score} t\n" for query, item, score in rows)
        )

    found = {finding.name: finding for finding in rw.check(qrels, {"mine": place})}

    (note,) = notes_on_ids(qrels, {"mine": place}, "AP")
    assert note.startswith(f"mine: {n} more judged items would be found if {notation} were ignored")
    assert "AP would be 1.0000 in place of 0." in note
    assert found["item-ids-in-two-notations"].level == "error"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_a_file_in_another_encoding_than_utf_8_is_named_with_the_figure(
    encoding: str, tmp_path: Path
):
    item = "L’été" if encoding == "cp1252" else "été"
    (tmp_path / "qrels").write_bytes(f"q1 0 {item} 1\nq2 0 b 1\n".encode(encoding))

    run = {"q1": {item: 2.0, "x": 1.0}, "q2": {"b": 1.0}}

    (note,) = notes_on_ids(tmp_path / "qrels", {"mine": run}, "RR")
    assert note.startswith(
        "mine: 1 more judged item would be found if encodings (Latin-1 for UTF-8) were ignored"
    )
    assert "RR would be 1.0000 in place of 0.5000" in note


def test_the_rows_of_a_stream_that_can_be_read_once_are_looked_at_again():
    pa = pytest.importorskip("pyarrow")
    columns = {"query": ["q1", "q1", "q2"], "item": ["A", "b", "c"], "score": [2.0, 1.0, 1.0]}
    stream = pa.RecordBatchReader.from_batches(
        (batch := pa.record_batch(columns)).schema, iter([batch])
    )

    (note,) = notes_on_ids({"q1": {"a": 1}, "q2": {"c": 1}}, stream, "RR")

    assert "RR would be 1.0000 in place of 0.5000" in note


def test_chunks_of_one_document_are_several_rows_of_it():
    qrels = {"q": {"doc": 1, "other": 1}}
    run = {"q": {"x": 4.0, "doc#c3": 3.0, "doc#c1": 2.0, "other": 1.0}}

    (note,) = notes_on_ids(qrels, {"mine": run}, "RR")

    assert "1 more judged item would be found if suffixes of chunks were ignored" in note
    assert "RR would be 0.5000 in place of 0.2500; write ids of documents in the run." in note


def test_ids_that_both_are_judged_or_both_are_listed_are_two_things():
    qrels = {"q1": {"a": 1, "A": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    run = {"q1": {"a": 3.0, "x": 1.0}, "q2": {"A": 2.0, "b": 1.0}, "q3": {"C": 3.0, "c": 1.0}}

    assert notes_on_ids(qrels, {"mine": run}, "RR") == []


def test_ids_that_look_alike_are_written_as_escapes():
    composed, decomposed = (
        unicodedata.normalize("NFC", "Évian"),
        unicodedata.normalize("NFD", "Évian"),
    )
    assert (
        str(IdPair(composed, decomposed))
        == r"'\xc9vian' in the judgments, 'E\u0301vian' in the run"
    )
    assert str(IdPair("Évian", "évian")) == "'Évian' in the judgments, 'évian' in the run"


def test_random_ids_of_several_alphabets_do_not_match():
    draw = random.Random(7)
    for alphabet in (
        "0123456789",
        "0123456789abcdef",
        "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789-_",
    ):
        ids = ["".join(draw.choices(alphabet, k=11)) for _ in range(3000)]
        assert match_queries(ids[:1500], ids[1500:]) == []


def test_each_certain_notation_has_one_form_for_its_spellings():
    for name, spell in SPELLINGS.items():
        for city in CITIES:
            text = f"{city.replace('ö', 'o')}-7döc"
            spelled = spell(text)
            assert certain_form(spelled) == certain_form(text)
            assert spelled == text or notation_of(IdPair(text, spelled)) == name
    assert set(SPELLINGS) <= set(CERTAIN)


def test_a_large_file_is_looked_at_in_many_places(tmp_path: Path):
    lines = [
        f"q{query} Q0 d{query}-{rank} {rank} {100 - rank} t\n"
        for query in range(3000)
        for rank in range(1, 51)
    ]
    qrels = {f"q{query}": {f"d{query}-1": 1} for query in range(3000)}
    half = len(lines) // 2
    lines[half:] = [line.replace(" d", " D") for line in lines[half:]]
    (tmp_path / "run").write_text("".join(lines))

    (note,) = notes_on_ids(qrels, str(tmp_path / "run"), "RR", intervals="none")

    assert "1500 more judged items would be found if differences of case were ignored" in note


def test_two_spellings_in_one_list_whose_lines_are_apart_are_two_items(tmp_path: Path):
    qrels = {"q1": {"D1": 1}, "q2": {"X": 1}}
    (tmp_path / "run.trec").write_text("q1 Q0 d1 1 3 t\nq2 Q0 X 1 3 t\nq1 Q0 D01 2 2 t\n")

    assert notes_on_ids(qrels, {"mine": tmp_path / "run.trec"}, "RR") == []


def test_a_second_spelling_beyond_the_rows_that_are_compared_first_is_seen_before_anything_is_said(
    tmp_path: Path,
):
    listed = [f"x{number}" for number in range(4_500)]
    listed[10], listed[4_400] = "d1", "D01"
    lines = [f"q,{item},{9_999 - place}\n" for place, item in enumerate(listed)]
    (tmp_path / "run.csv").write_text("query,item,score\n" + "".join(lines))

    assert notes_on_ids({"q": {"D1": 1, "x0": 1}}, {"mine": tmp_path / "run.csv"}, "RR") == []


def test_of_a_run_in_several_files_no_figure_of_the_first_alone_is_given(tmp_path: Path):
    qrels, run = world(20)
    rows = [
        f"{query} Q0 {item.lower()} 1 {score} t\n"
        for query, items in run.items()
        for item, score in items.items()
    ]
    (tmp_path / "run").mkdir()
    for name, part in (("1.trec", rows[:20]), ("2.trec", rows[20:])):
        (tmp_path / "run" / name).write_text("".join(part))

    (note,) = notes_on_ids(qrels, {"mine": tmp_path / "run"}, "RR")

    assert note.startswith(
        "mine: at least 10 more judged items would be found if differences of case were ignored"
    )
    assert "RR" not in note


@pytest.mark.parametrize(
    ("line", "columns"), [("{0} {1} {2}", None), ("x::{1}::{0}::{2}", "query=3,item=2,score=4")]
)
def test_lines_without_a_header_are_compared_in_a_file_of_any_size(
    line: str, columns: str | None, tmp_path: Path
):
    qrels, run = world(2_500)
    rows = [
        (query, item.lower(), score)
        for query, items in run.items()
        for item, score in items.items()
    ]
    (tmp_path / "run.txt").write_text(
        "".join(f"{line.format(query, item + '-' * 30, score)}\n" for query, item, score in rows)
    )
    qrels = {
        query: {item + "-" * 30: grade for item, grade in judged.items()}
        for query, judged in qrels.items()
    }

    (note,) = notes_on_ids(qrels, {"mine": tmp_path / "run.txt"}, "RR", columns=columns)

    assert note.startswith(
        "mine: 2500 more judged items would be found if differences of case were ignored"
    )


def test_pairs_in_the_lists_of_a_mapping_are_compared_by_their_ids():
    (note,) = notes_on_ids({"q": {"D1": 1}}, {"mine": {"q": [("x", 2.0), ("d1", 1.0)]}}, "RR")

    assert note.startswith(
        "mine: 1 more judged item would be found if differences of case were ignored"
    )
