"""Systems that answer questions: what loads, what is read where, and that scores decide between an
answer and none.
"""

import builtins
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwell.data.code import load_object
from rankwell.data.rankings import Ranking
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem, MissingExtra
from rankwell.tasks.qa.answer_pairs import Questions
from rankwell.tasks.qa.answering import (
    Answer,
    OverlapReader,
    Passage,
    TransformersReader,
    bm25_overlap,
    bm25_transformers,
    gold_passages,
    ranked,
    read_answers,
    retrieve,
)

RIVERS = Passage(
    "rivers",
    "Paris lies on the Seine. The river Thames flows through London, and the Tiber through Rome.",
)
TOWERS = Passage("towers", "The Eiffel Tower was opened in 1889. It is 330 metres high.")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that writes a file into the working folder and returns its name."""
    monkeypatch.chdir(tmp_path)

    def write(source: str) -> str:
        (tmp_path / "own_engine.py").write_text(source)
        return "./own_engine.py"

    return write


def test_a_function_of_a_file_in_the_working_folder_is_loaded(module):
    name = module(
        "class Engine:\n    @staticmethod\n    def search(query, k):\n        return [(query, "
        "k)]\nlimit = 3\n"
    )

    assert load_object(f"{name}:Engine.search")("q", 2) == [("q", 2)]
    assert load_object("os.path:join")("a", "b") == str(Path("a") / "b")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "json",
        "json:",
        ":dumps",
        "json:dumps()",
        "a b:c",
        "json.:dumps",
        "../x:y",
        "json:dumps:x",
        ".py:f",
        "x.py",
        "x.py:",
        "http://a/b.py:f",
    ],
)
def test_a_text_of_another_form_is_refused(text: str):
    with pytest.raises(BadUsage, match=r"names no function or class; write ./FILE\.py:OBJECT"):
        load_object(text)


def test_what_is_missing_is_named(module):
    name = module("def search(query, k): ...\nlimit = 3\n")

    with pytest.raises(BadUsage, match="no module 'no_such_engine' is installed"):
        load_object("no_such_engine:search")
    with pytest.raises(BadUsage, match=r"no module 'json.nothing' is installed"):
        load_object("json.nothing:search")
    with pytest.raises(BadUsage, match=f"the file '{name}' has no 'serch'; did you mean 'search'"):
        load_object(f"{name}:serch")
    with pytest.raises(BadUsage, match="'search' has no 'inner'"):
        load_object(f"{name}:search.inner")
    with pytest.raises(BadUsage, match="is an integer, which cannot be called"):
        load_object(f"{name}:limit")


def test_a_module_that_fails_says_why(module):
    for source, message in (
        ("import no_such_package", "needs 'no_such_package', which is not installed"),
        ("1 / 0", r"cannot be imported.*ZeroDivisionError: division by zero"),
        ("def", r"cannot be imported.*SyntaxError"),
        ("raise SystemExit('usage')", r"cannot be imported.*SystemExit: usage"),
    ):
        with pytest.raises(BadUsage, match=message):
            load_object(f"{module(source)}:search")


def test_answers_are_ranked_by_score_and_none_comes_after_answers_of_its_score():
    one, two, none = Answer("a", 0.5), Answer("b", 0.7), Answer(None, 0.5)

    assert ranked([none, one, two]) == [two, one, none]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which city does the river Thames flow through?", "London"),
        ("When was the Eiffel Tower opened?", "1889"),
        ("How many metres high is it?", "330"),
        ("On what river does Paris lie?", "Seine"),
    ],
)
def test_the_reader_answers_from_the_sentence_that_shares_most_with_the_question(
    question: str, answer: str
):
    assert OverlapReader().read(question, [RIVERS, TOWERS], 5)[0].text == answer


def test_every_answer_is_a_piece_of_its_passage():
    found = OverlapReader([RIVERS.text, TOWERS.text]).read(
        "Which river is 330 metres from the Tower?", [RIVERS, TOWERS], 50
    )
    passages = dict([RIVERS, TOWERS])

    assert {each.document for each in found} == {"rivers", "towers", None}
    for each in found:
        if each.document is not None:
            assert passages[each.document][each.start : each.end] == each.text
            assert 0 < each.score <= 1
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_that_there_is_no_answer_comes_first_where_no_sentence_reaches_the_threshold():
    question = "Which city does the river Danube leave?"

    strict, mild = (
        OverlapReader(threshold=each).read(question, [RIVERS], 3) for each in (0.5, 0.2)
    )

    assert strict[0] == Answer(None, 0.5)
    assert mild[0].text is not None
    assert mild[-1] == Answer(None, 0.2)
    assert OverlapReader().read("Which city?", [], 3) == [Answer(None, 0.5)]
    assert OverlapReader().read("", [RIVERS], 3) == [Answer(None, 0.5)]
    assert OverlapReader().read(question, [RIVERS], 0) == [Answer(None, 0.5)]


def test_rare_words_weigh_more_than_words_of_every_document():
    documents = [f"The bridge number {number} of the town." for number in range(20)] + [
        "The bridge of sighs is in Venice."
    ]
    passages = [Passage(str(number), text) for number, text in enumerate(documents)]

    found = OverlapReader(documents).read("Where is the bridge of the sighs?", passages, 1)

    assert found[0].text == "Venice"


def test_sentences_end_at_full_stops_but_not_after_initials():
    text = "Dr. A. Turing proved it in the U.S. Navy hall. fmean is fast! Nothing else."

    found = OverlapReader().read("What is fast?", [Passage("d", text)], 5)

    assert [each.text for each in found] == ["fmean", None]


class Engine:
    """A system that finds what it is told to."""

    def __init__(self, found: list[tuple[str, float]]) -> None:
        self.found = found

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        return self.found if query else []


def test_what_a_system_finds_becomes_a_ranking_in_its_own_order():
    found = retrieve(Engine([("b", 1.0), ("a", 1.0), ("c", 0.5)]), {"q2": "x", "q1": ""}, 2)

    assert found.queries == ("q1", "q2")
    assert found.offsets.tolist() == [0, 0, 2]
    assert list(found.items) == ["b", "a"]


def test_a_system_that_repeats_itself_or_gives_no_number_is_refused():
    with pytest.raises(DuplicateItem, match="'q' lists item 'a' twice"):
        retrieve(Engine([("a", 2.0), ("a", 1.0)]), {"q": "x"}, 5)
    with pytest.raises(BadScore, match="'q', item 'a'"):
        retrieve(Engine([("a", float("nan"))]), {"q": "x"}, 5)


class Echo:
    """A reader that answers with the passages that it was given."""

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        found = [
            Answer(each.text, 1 / (place + 1), each.document, 0, len(each.text))
            for place, each in enumerate(passages)
        ]
        return ranked([*found[:k], Answer(None, 0.4)])


def test_a_reader_sees_the_documents_and_its_answers_become_predictions():
    retrieved = Ranking.from_dict({"q1": {"c": 3.0, "gone": 2.5, "a": 2.0, "b": 1.0}, "q2": {}})
    seen: list[tuple[int, int]] = []

    found = read_answers(
        Echo(),
        {"q1": "x", "q2": "y"},
        retrieved,
        {"a": "A", "b": "B", "c": "C"},
        k=2,
        progress=lambda *each: seen.append(each),
    )

    assert found.ids == ("q1", "q2")
    assert found.offsets.tolist() == [0, 2, 3]
    assert found.texts == ("C", "A", None)
    assert found.documents == ("c", "a", None)
    # None is worth 0.4, the best answer 1; nothing was read for q2, which is as sure as the surest
    # other.
    assert found.no_answer is not None
    np.testing.assert_allclose(found.no_answer, [-0.6, -0.6])
    assert seen == [(1, 2), (2, 2)]


class Certain:
    """A reader that answers with its only passage, and never says that there is no answer."""

    def read(self, question: str, passages: Sequence[Passage], k: int) -> list[Answer]:
        return [Answer(each.text, 1.0) for each in passages]


def test_without_a_word_on_no_answers_nothing_is_said_of_them():
    retrieved = Ranking.from_dict({"b": {"d": 1.0}})
    found = read_answers(Certain(), {"b": "x", "a": "y"}, retrieved, {"d": "x"}, k=5)

    assert found.ids == ("a", "b")
    assert found.no_answer is None
    assert found.offsets.tolist() == [0, 0, 1]


@pytest.fixture
def questions() -> Questions:
    """Two questions about two paragraphs; nothing answers the second."""
    return Questions(
        ids=("q1", "q2"),
        texts=("Which city does the river Thames flow through?", "Who painted the Mona Lisa?"),
        impossible=np.array([False, True]),
        documents=("rivers", "towers"),
        offsets=np.array([0, 1, 1]),
        answers=("London",),
        answer_documents=("rivers",),
        starts=np.array([RIVERS.text.index("London")]),
        contexts=dict([RIVERS, TOWERS]),
    )


def test_the_example_finds_reads_and_knows_when_to_be_silent(questions: Questions):
    retrieved, predictions = bm25_overlap(questions, k_retriever=1, k_reader=2)

    assert retrieved.items[0] == "rivers"
    assert predictions.texts[0] == "London"
    assert predictions.starts[0] == questions.starts[0]
    assert predictions.texts[predictions.offsets[1]] is None
    assert np.diff(predictions.offsets).max() <= 2


@pytest.mark.parametrize("wrong", [0, -1, 2.5, True])
def test_the_example_refuses_a_cut_off_that_finds_nothing(questions: Questions, wrong: Any):
    for name in ("k_retriever", "k_reader"):
        with pytest.raises(BadUsage, match=f"{name}={wrong!r}; expected a positive integer"):
            bm25_overlap(questions, **{name: wrong})


def test_gold_passages_are_those_of_the_answers_and_of_the_question(questions: Questions):
    found = gold_passages(questions)

    assert found.queries == ("q1", "q2")
    assert list(found.items) == ["rivers", "towers"]


WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "paris",
    "london",
    "is",
    "was",
    "the",
    "capital",
    "of",
    "france",
    "england",
]
WORDS += ["what", "in", ".", "?", "a", "##s", "city"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT that was never trained, with two dozen words; made from a configuration."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in WORDS))
    transformers.utils.logging.disable_progress_bar()
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    torch.manual_seed(3)
    sizes = {
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    configuration = transformers.BertConfig(
        vocab_size=len(WORDS), max_position_embeddings=48, initializer_range=0.5, **sizes
    )
    transformers.BertForQuestionAnswering(configuration).save_pretrained(folder)
    return folder


QUESTION = "What is the capital?"
CITIES = Passage(
    "cities",
    "  Paris is the capital of France. London was a city in England, the capital.  Paris was "
    "in London.",
)


def by_hand(
    folder: Path, question: str, text: str, *, window: int, stride: int, longest: int
) -> tuple[dict[tuple[int, int], float], float]:
    """Every span of a passage with its best score, and the score of none: one window at a time, all
    spans of every window.
    """
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        AutoModelForQuestionAnswering.from_pretrained(folder),
    )
    query_tokens = tokenizer(question, add_special_tokens=False)["input_ids"]
    whole = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    tokens, places = whole["input_ids"], whole["offset_mapping"]
    room = window - len(query_tokens) - 3
    spans: dict[tuple[int, int], float] = {}
    none, begin = float("inf"), 0
    while True:
        part = tokens[begin : begin + room]
        row = [2, *query_tokens, 3, *part, 3]
        kinds = [0] * (len(query_tokens) + 2) + [1] * (len(part) + 1)
        with torch.inference_mode():
            out = model(input_ids=torch.tensor([row]), token_type_ids=torch.tensor([kinds]))
        starts, ends = out.start_logits[0].tolist(), out.end_logits[0].tolist()
        none = min(none, starts[0] + ends[0])
        for first in range(len(part)):
            for last in range(first, min(first + longest, len(part))):
                score = starts[len(query_tokens) + 2 + first] + ends[len(query_tokens) + 2 + last]
                span = (places[begin + first][0], places[begin + last][1])
                spans[span] = max(spans.get(span, score), score)
        if begin + room >= len(tokens):
            return spans, none
        begin += room - stride


@pytest.mark.parametrize(("window", "stride"), [(48, 4), (16, 2), (14, 3)])
def test_spans_and_none_are_what_all_windows_give_one_by_one(tiny: Path, window: int, stride: int):
    spans, none = by_hand(tiny, QUESTION, CITIES.text, window=window, stride=stride, longest=6)

    reader = TransformersReader(
        str(tiny),
        max_tokens=window,
        stride=stride,
        max_answer_tokens=6,
        candidates=100,
        batch_size=2,
    )
    found = reader.read(QUESTION, [CITIES], 1000)

    assert {(each.start, each.end): each.score for each in found if each.text} == pytest.approx(
        spans, abs=1e-5
    )
    assert next(each.score for each in found if each.text is None) == pytest.approx(none, abs=1e-5)
    assert all(CITIES.text[each.start : each.end] == each.text for each in found if each.text)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_the_best_answers_come_from_all_passages_and_batches_change_nothing(tiny: Path):
    other = Passage("other", "England is a city.")

    one, three = (
        TransformersReader(str(tiny), max_tokens=16, stride=2, batch_size=size) for size in (1, 3)
    )
    found = one.read(QUESTION, [CITIES, other], 4)
    again = three.read(QUESTION, [CITIES, other], 4)
    apart = [each for passage in (CITIES, other) for each in one.read(QUESTION, [passage], 4)]

    assert [each[:1] + each[2:] for each in found] == [each[:1] + each[2:] for each in again]
    assert [each.score for each in found] == pytest.approx([each.score for each in again], abs=1e-5)
    best = sorted((each.score for each in apart if each.text), reverse=True)[:4]
    assert [each.score for each in found if each.text] == pytest.approx(best, abs=1e-5)
    assert [each.score for each in found if each.text is None] == pytest.approx(
        [min(each.score for each in apart if each.text is None)], abs=1e-5
    )


def test_the_null_threshold_is_taken_off_the_score_of_none(tiny: Path):
    plain, moved = (
        TransformersReader(str(tiny), max_tokens=48, stride=4, null_threshold=each)
        for each in (0.0, 100.0)
    )

    before, after = (
        next(e.score for e in reader.read(QUESTION, [CITIES], 2) if e.text is None)
        for reader in (plain, moved)
    )

    assert after == pytest.approx(before - 100)
    assert moved.read(QUESTION, [CITIES], 2)[-1].text is None
    assert plain.read(QUESTION, [], 2) == [Answer(None, 0.0)]


def test_a_passage_may_hold_bytes_that_are_not_utf8_or_nothing_at_all(tiny: Path):
    reader = TransformersReader(str(tiny), max_tokens=48, stride=4)

    found = reader.read(
        QUESTION, [Passage("odd", "\udcff Paris is a city"), Passage("empty", "")], 5
    )

    assert all(
        "\udcff Paris is a city"[each.start : each.end] == each.text for each in found if each.text
    )
    assert any(
        each.text == "Paris"
        for each in reader.read(QUESTION, [Passage("odd", "\udcff Paris is a city")], 100)
    )


def test_a_question_that_leaves_no_room_is_refused_with_its_length(tiny: Path):
    reader = TransformersReader(str(tiny), max_tokens=16, stride=2)

    with pytest.raises(BadUsage, match=r"has 20 tokens, which leaves 0 of 16"):
        reader.read("what " * 20, [CITIES], 2)


def test_a_model_that_is_not_there_and_limits_that_make_no_sense_are_refused(
    tiny: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(BadInput, match="no model that reads answers can be loaded"):
        TransformersReader(str(tmp_path / "nothing"))
    with pytest.raises(BadUsage, match="candidates=0; give at least 1"):
        TransformersReader(str(tiny), candidates=0)
    with pytest.raises(BadUsage, match="stride=-1"):
        TransformersReader(str(tiny), stride=-1)


def test_the_whole_loop_runs_with_a_model(tiny: Path, questions: Questions):
    retrieved, predictions = bm25_transformers(
        questions, model=str(tiny), k_retriever=1, k_reader=3, max_tokens=48, stride=4
    )

    assert retrieved.items[0] == "rivers"
    assert np.diff(predictions.offsets).max() == 3
    assert predictions.no_answer is not None
    assert np.isfinite(predictions.no_answer).all()


def test_without_transformers_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    loaded = builtins.__import__

    def refuse(name: str, *rest: object):
        if name == "transformers":
            raise ImportError(name)
        return loaded(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"pip install 'rankwell\[text\]'"):
        TransformersReader("any")
