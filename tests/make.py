"""Awkward inputs, the same for the same seed: what real runs and judgments hold and careful code
forgets.

A world is one run with its truth as plain mappings. `MAKERS` says for each type of view how the
truth of a query looks (that is what the oracles of its measures read as `grades`), how a view comes
of a world, and how the oracles break ties.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from oracles import answers
from oracles import beyond as beyond_oracle
from oracles import rag as rag_oracle
from oracles.agreement import DEPTH, N_CANDIDATES
from rankwell import judged_rankings, ranking_pairs
from rankwell.data.judged_rankings import (
    GroupRankings,
    IntentRankings,
    JudgmentPair,
    SecondJudgedRankings,
    SessionQueries,
    SessionRankings,
)
from rankwell.data.preferences import PreferenceRankings, Preferences
from rankwell.data.tables import Judgments, segment_offsets, sort_ids, take_segments
from rankwell.io.mapping import find_hits
from rankwell.tasks.beyond.lists import (
    ItemAttributes,
    ItemLabels,
    ItemLists,
    ListCollections,
    QueryItems,
)
from rankwell.tasks.clicks.inputs import LoggedRounds
from rankwell.tasks.qa.answer_pairs import AnswerPairs, Predictions, Questions
from rankwell.tasks.rag.passages import (
    CitedStatements,
    DocumentPassage,
    RetrievedPassages,
    Statement,
)
from tasks.clicks.world import joined, logged

Run = dict[str, dict[str, float]]
KINDS = (
    "absent",
    "empty",
    "nothing judged",
    "nothing relevant",
    "constant",
    "single",
    "long",
    "all unjudged",
) + 8 * ("mixed",)


@dataclass(frozen=True)
class World:
    """A run and what is true of each of its queries; some queries have no ranking, some rankings no
    item.
    """

    truth: dict[str, Any]
    run: Run


@dataclass(frozen=True)
class Maker:
    """How worlds of one type of view are made.

    truth: (random, judged items, whether anything may be relevant) -> the truth of one query.
    nothing: the truth without rows.
    """

    truth: Callable[[Random, list[str], bool], Any]
    nothing: Callable[[], Any]
    join: Callable[[Mapping[str, Any], Run], Any]
    ids_descend: bool = True

    def world(self, seed: int) -> World:
        """Two queries or more of every kind, their ids out of order."""
        random = Random(seed)
        names = [f"q{number}" for number in range(len(KINDS))]
        random.shuffle(names)
        truth, run = {}, {}
        for name, kind in zip(names, KINDS, strict=True):
            truth[name], ranking = self._query(random, kind)
            if ranking is not None:
                run[name] = ranking
        return World(truth, run)

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        pool = items(random, 150 if kind == "long" else 30)
        judged = random.sample(pool, {"single": 1, "long": 25}.get(kind, random.randint(6, 16)))
        listed = random.sample(pool, {"single": 1, "long": 130}.get(kind, random.randint(4, 24)))
        if kind == "all unjudged":
            listed = [item for item in pool if item not in judged]
        truth = (
            self.nothing()
            if kind == "nothing judged"
            else self.truth(random, judged, kind != "nothing relevant")
        )
        if kind in ("absent", "empty"):
            return truth, None if kind == "absent" else {}
        levels = 1 if kind == "constant" else random.choice((4, 12, 10**6))
        return truth, {item: random.randrange(levels) / 4 for item in listed}

    def rankings(self, world: World) -> dict[str, list[str]]:
        """The final order of every query's items by the tie rule that these measures are computed
        with.
        """
        return {
            query: final_order(world.run.get(query, {}), ids_descend=self.ids_descend)
            for query in world.truth
        }


def items(random: Random, number: int) -> list[str]:
    """Ids whose byte order is not their numeric order, with letters beyond ASCII and a byte that is
    not UTF-8 among them.
    """
    ids = [f"d{each}" for each in range(number - 4)] + ["D1", "ähnlich", "文書", "\udcff"]
    random.shuffle(ids)
    return ids


def final_order(scored: Mapping[str, float], *, ids_descend: bool = True) -> list[str]:
    """Score descending, ties by the bytes of the id; written without anything of rankwell's."""
    by_id = sorted(
        scored, key=lambda item: item.encode("utf-8", "surrogateescape"), reverse=ids_descend
    )
    return sorted(by_id, key=lambda item: -scored[item])


def shuffled(written: Any, random: Random) -> Any:
    """The same mapping or list of rows written down in another order, its inner mappings and lists
    too.
    """
    if isinstance(written, Mapping):
        keys = random.sample(list(written), len(written))
        return {key: shuffled(written[key], random) for key in keys}
    return random.sample(written, len(written)) if isinstance(written, list) else written


def own_convention(base: str, task: str = "qa", **rules: Any) -> str:
    """A file of a convention: a base with rules of a task that differ."""
    file = Path(tempfile.mkdtemp()) / "own.toml"
    lines = [f'base = "{base}"', f"[tasks.{task}]"]
    lines += [f"{name} = {json.dumps(value).lower()}" for name, value in rules.items()]
    file.write_text("\n".join(lines), encoding="utf-8")
    return str(file)


def touch(folder: Path, *names: str) -> Path:
    """The folder, with files of these names that are no more than their names say."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(
            f"no picture, but called {name}".encode("utf-8", "surrogateescape")
        )
    return folder


def grades(random: Random, judged: list[str], relevant: bool) -> dict[str, float]:
    """Grades of one query: whole, fractional, and below 0 for pooled but not judged."""
    scale = [-2, -1, 0, 0, 0, 1, 1, 2, 3, 0.5, 1.5] if relevant else [-1, 0, 0, 0.25]
    return {item: float(random.choice(scale)) for item in judged}


def aspects(random: Random, judged: list[str], relevant: bool) -> dict[str, dict[str, float]]:
    """One to four groups or intents, each with its own grades of some of the items."""
    names = random.sample(["1", "2", "10", "ä"], random.randint(1, 4))
    return {
        name: grades(random, random.sample(judged, random.randint(1, len(judged))), relevant)
        for name in names
    }


def preferences(
    random: Random, judged: list[str], relevant: bool
) -> list[tuple[str, str, str, float]]:
    """Rows (group, subgroup, item, level); an item has one level in its group, so that no
    preferences contradict each other.
    """
    rows = []
    for group in random.sample(["1", "2", "ä"], random.randint(1, 3)):
        levels = {
            item: float(random.choice((0, 0, 1, 2, 3) if relevant else (0,))) for item in judged
        }
        for subgroup in random.sample(["1", "2"], random.randint(1, 2)):
            ranked = random.sample(judged, random.randint(1, len(judged)))
            rows += [(group, subgroup, item, levels[item]) for item in ranked]
    return rows


@dataclass(frozen=True)
class PairsMaker(Maker):
    """Worlds of two models over the same candidates; in many queries both know all of them, and
    many similarities are equal.
    """

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        truth, run = super()._query(random, kind)
        if kind == "mixed" and random.random() < 0.6:
            pool = items(random, random.choice((8, 20, 50)))
            truth, run = self.truth(random, pool, True), dict(self.truth(random, pool, True))
        return truth, run

    def rankings(self, world: World) -> Any:
        """What the candidate knows, similarities and all."""
        return {query: world.run.get(query, {}) for query in world.truth}


def similarities(random: Random, listed: list[str], relevant: bool) -> dict[str, float]:
    """Similarities of one query, from quite distinct ones to a single one."""
    levels = random.choice((3, 12, 10**6)) if relevant else 1
    return {item: random.randrange(levels) / 4 for item in listed}


def _join_pairs(truth: Mapping[str, dict[str, float]], run: Run) -> Any:
    return ranking_pairs(truth, run, depth=DEPTH, n_candidates=N_CANDIDATES)


def _join_aspects(view: type[Any]) -> Callable[[Mapping[str, Any], Run], Any]:
    def join(truth: Mapping[str, dict[str, dict[str, float]]], run: Run) -> Any:
        rows = [
            (query, item, grade, name)
            for query, named in truth.items()
            for name, graded in named.items()
            for item, grade in graded.items()
        ]
        queries, judged, levels, names = map(list, zip(*rows, strict=True))
        judgments = Judgments.from_rows(queries, judged, levels, aspects=names, all_queries=truth)
        return view.join(judgments, find_hits(run, judgments.flat))

    return join


def _join_preferences(truth: Mapping[str, list[tuple[str, str, str, float]]], run: Run) -> Any:
    rows = [(query, *row) for query, each in truth.items() for row in each]
    table = Preferences.from_rows(*map(list, zip(*rows, strict=True)), all_queries=truth)
    return PreferenceRankings.join(table, find_hits(run, table.judgments, ties="id-asc"))


def two_grades(
    random: Random, judged: list[str], relevant: bool
) -> dict[str, tuple[float, float | None]]:
    """Relevance of each item, and a second grade of most."""
    return {
        item: (grade, random.choice([None, -1.0, 0.0, 1.0, 2.5]))
        for item, grade in grades(random, judged, relevant).items()
    }


def _join_second(truth: Mapping[str, dict[str, tuple[float, float | None]]], run: Run) -> Any:
    known = {
        query: {item: other for item, (_, other) in each.items() if other is not None}
        for query, each in truth.items()
    }
    first = Judgments.from_dict(
        {query: {item: grade for item, (grade, _) in each.items()} for query, each in truth.items()}
    )
    second = Judgments.from_dict(known)
    return SecondJudgedRankings.join(JudgmentPair(first, second), find_hits(run, first))


WORDS = """the Le la a an un U.S. Paris paris, Paris 1990 1909 A+ — . «mot» l'Ouganda L’Ouganda Ouganda d'eau Café Cafe\u0301
well-known die Katze las casas cái nhà الكتاب 北京 1,5 _ ‘x’ au\u00a0fil naïve $ ² ΑΣ ||""".replace(  # noqa: E501
    "\n", " "
)


def text(random: Random) -> str:
    """An answer of no to five words, with what normalisers trip over: accents, articles, elisions,
    punctuation, other scripts.
    """
    return random.choice(["", " "]) + random.choice([" ", "  "]).join(
        random.choices(WORDS.split(" "), k=random.randint(0, 5))
    )


@dataclass(frozen=True)
class AnswersMaker(Maker):
    """Worlds of questions with right answers and a system's ranked ones, written as texts; some ask
    for no answer.
    """

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        truth = self.truth(random, [], kind not in ("absent", "empty", "nothing relevant"))
        if kind in ("absent", "empty"):
            return truth, None if kind == "absent" else {}
        given = [
            self._answer(random, truth["golds"])
            for _ in range({"single": 1, "long": 130}.get(kind, random.randint(1, 12)))
        ]
        return truth, {item: random.randrange(8) / 4 for item in given}

    def _answer(self, random: Random, golds: list[tuple[str, str, int]]) -> str:
        if random.random() < 0.15:
            return answers.encode(random.choice([None, "", " "]), "d1", -1, -1)
        said, document, start = random.choice(golds) if golds else (text(random), "d1", 3)
        if random.random() < 0.9:
            said = random.choice(
                [text(random), said.lower(), "the " + said, said + " " + text(random), said[1:]]
            )
        first = start if random.random() < 0.5 else random.randint(-1, 30)
        last = first + (len(said) if random.random() < 0.5 else random.randint(0, 9))
        return answers.encode(
            said, random.choice([document, "d1", "d2"]), first, last if first >= 0 else -1
        )

    def rankings(self, world: World) -> Any:
        """The answers in order; None for a question without a prediction."""
        ordered = super().rankings(world)
        return {query: ordered[query] if query in world.run else None for query in world.truth}


def right_answers(random: Random, judged: list[str], relevant: bool) -> dict[str, Any]:
    """What is known of one question; see tests/oracles/answers.py."""
    places = [
        (text(random), random.choice(["d1", "d2"]), random.choice([-1, 0, 5, 11, 20]))
        for _ in range(random.randint(1, 4))
    ]
    golds = places if relevant and random.random() < 0.8 else []
    return {
        "golds": golds,
        "found": random.random() < 0.6,
        "na": random.choice([None, 0.0, 0.25, 0.75, 1.5, 3.0]),
    }


def _join_answers(truth: Mapping[str, dict[str, Any]], run: Run) -> Any:
    ids, answered = tuple(sort_ids(truth)), tuple(sort_ids(run))
    golds = [gold for each in ids for gold in truth[each]["golds"]]
    ranked = [answers.decode(item) for each in answered for item in final_order(run[each])]
    questions = Questions(
        ids=ids,
        texts=ids,
        impossible=np.array([not truth[each]["golds"] for each in ids]),
        documents=(None,) * len(ids),
        offsets=segment_offsets(np.array([len(truth[each]["golds"]) for each in ids])),
        answers=tuple(gold[0] for gold in golds),
        answer_documents=tuple(gold[1] for gold in golds),
        starts=np.array([gold[2] for gold in golds], dtype=np.int64),
    )
    unlikely = [truth[each]["na"] for each in answered]
    predictions = Predictions(
        ids=answered,
        offsets=segment_offsets(np.array([len(run[each]) for each in answered], dtype=np.int64)),
        texts=tuple(each[0] for each in ranked),
        documents=tuple(each[1] for each in ranked),
        starts=np.array([each[2] for each in ranked], dtype=np.int64),
        ends=np.array([each[3] for each in ranked], dtype=np.int64),
        scores=np.full(len(ranked), np.nan),
        no_answer=np.array([np.nan if each is None else each for each in unlikely]),
    )
    return AnswerPairs.pair(
        questions, predictions, retrieved={each: truth[each]["found"] for each in ids}
    )


@dataclass(frozen=True)
class PassagesMaker(Maker):
    """Worlds of questions with gold passages in one document and retrieved chunks of two, some the
    same and some that overlap.
    """

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        gold = [self._passage(random, ["d1"]) for _ in range(random.randint(1, 3))]
        if kind in ("absent", "empty"):
            return gold, None if kind == "absent" else {}
        near = [
            (name, max(start - random.randint(0, 4), 0), end, words)
            for name, start, end, words in gold
        ]
        near = [
            (name, start, end, rag_oracle.DOCUMENTS[name][start:end])
            for name, start, end, _ in near
        ]
        listed = [
            self._passage(random, ["d1", "d2"])
            for _ in range({"single": 1, "long": 12}.get(kind, random.randint(1, 6)))
        ]
        listed += (
            []
            if kind == "nothing relevant"
            else random.sample([*gold, *near], random.randint(0, 2 * len(gold)))
        )
        return gold, {json.dumps(chunk): random.randrange(8) / 4 for chunk in listed}

    def _passage(self, random: Random, names: list[str]) -> rag_oracle.Chunk:
        name = random.choice(names)
        start = random.randrange(len(rag_oracle.DOCUMENTS[name]) - 20)
        end = start + random.randint(1, 20)
        return name, start, end, rag_oracle.DOCUMENTS[name][start:end]


def _join_passages(truth: Mapping[str, list[rag_oracle.Chunk]], run: Run) -> Any:
    ids = tuple(sort_ids(truth))
    return RetrievedPassages(
        queries=ids,
        gold=tuple(tuple(DocumentPassage(*each) for each in truth[query]) for query in ids),
        chunks=tuple(
            tuple(
                DocumentPassage(*rag_oracle.decode(each))
                for each in final_order(run.get(query, {}))
            )
            for query in ids
        ),
        documents=rag_oracle.DOCUMENTS,
        every_chunk=tuple(DocumentPassage(*each) for each in rag_oracle.EVERY),
    )


@dataclass(frozen=True)
class CitationsMaker(Maker):
    """Worlds of answers whose statements cite up to three documents, with a judgment of every set
    of them.
    """

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        if kind in ("absent", "empty"):
            return {}, None if kind == "absent" else {}
        found: dict[str, float] = {}
        for _ in range(random.randint(1, 5)):
            cited = random.sample("abcd", random.randint(0, 3))
            sets = [list(each) for size in range(1, 4) for each in combinations(cited, size)]
            judged = [(each, random.random() < 0.3 + 0.2 * len(each)) for each in sets]
            found[json.dumps([cited, judged])] = random.randrange(8) / 4
        return {}, found


def _join_citations(truth: Mapping[str, Any], run: Run) -> Any:
    ids = tuple(sort_ids(truth))
    ranked = [
        [(item, *rag_oracle.statement(item)) for item in final_order(run.get(query, {}))]
        for query in ids
    ]
    return CitedStatements(ids, tuple(tuple(Statement(*each) for each in own) for own in ranked))


@dataclass(frozen=True)
class SessionsMaker(Maker):
    """Worlds of sessions of one to four queries; what is true and ranked is keyed by the place of
    the query, and the item.
    """

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        truth, run = dict[tuple[int, str], float](), dict[str, float]()
        for place in range(1, random.randint(1, 4) + 1):
            graded, scored = super()._query(random, kind)
            truth |= {(place, item): grade for item, grade in graded.items()}
            run |= {json.dumps([place, item]): score for item, score in (scored or {}).items()}
        return truth, None if kind == "absent" else run

    def rankings(self, world: World) -> Any:
        """(place of the query, rank, item) of all lists of each session."""
        return {
            session: [
                (place, rank, item)
                for place, scored in _by_place(world.run.get(session, {})).items()
                for rank, item in enumerate(final_order(scored), 1)
            ]
            for session in world.truth
        }


def _by_place(scored: Mapping[str, float]) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for name, score in scored.items():
        place, item = json.loads(name) if name.startswith("[") else (1, name)
        found.setdefault(place, {})[item] = score
    return found


def _join_sessions(truth: Mapping[str, dict[tuple[int, str], float]], run: Run) -> Any:
    sessions = {session: [f"{session}/{place}" for place in range(1, 5)] for session in truth}
    judged: dict[str, dict[str, float]] = {
        query: {} for queries in sessions.values() for query in queries
    }
    for session, each in truth.items():
        for (place, item), grade in each.items():
            judged[f"{session}/{place}"][item] = grade
    ranked = {
        f"{session}/{place}": own
        for session, scored in run.items()
        for place, own in _by_place(scored).items()
    }
    return SessionRankings.join(judged_rankings(judged, ranked), SessionQueries.from_dict(sessions))


@dataclass(frozen=True)
class ListsMaker(Maker):
    """Worlds of lists of items from one catalogue, with grades of some items and the history of
    each user.
    """

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        judged, run = super()._query(random, kind)
        history = (
            []
            if kind == "nothing judged"
            else random.sample(beyond_oracle.ITEMS, random.randint(1, 6))
        )
        if run is not None:
            run = {item: score for item, score in run.items() if item in beyond_oracle.CATALOGUE}
        return {"grades": judged, "history": history}, run


@cache
def _items_beyond() -> ItemAttributes:
    """What the oracle says of every item."""
    known, source = tuple(beyond_oracle.ITEMS), beyond_oracle
    vectors = np.array([source.vector(item) for item in known])
    return ItemAttributes(
        items=known,
        in_catalogue=np.array([item in source.CATALOGUE for item in known]),
        popularity=np.array([source.POPULARITY[item] for item in known]),
        n_users=source.N_USERS,
        categories=ItemLabels.of(known, {item: source.categories(item) for item in known}),
        groups=ItemLabels.of(known, {item: source.groups(item) for item in known}),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
    )


def _lists(ranked: Mapping[str, list[str]], about: ItemAttributes) -> ItemLists:
    names = tuple(sort_ids(ranked))
    codes = np.full((len(names), max(map(len, ranked.values()), default=1)), -1, dtype=np.int64)
    for row, name in enumerate(names):
        codes[row, : len(ranked[name])] = [about.index[item] for item in ranked[name]]
    return ItemLists(names, codes, about)


def _query_items(listed: Mapping[str, Mapping[str, float]], about: ItemAttributes) -> QueryItems:
    rows = [
        (row, about.index[item], own)
        for row, each in enumerate(listed.values())
        for item, own in each.items()
    ]
    owners, codes, values = np.array(rows).reshape(-1, 3).T
    return QueryItems.of(tuple(listed), owners.astype(np.int64), codes.astype(np.int64), values)


def _join_lists(truth: Mapping[str, dict[str, Any]], run: Run) -> Any:
    about = _items_beyond()
    in_catalogue = set(beyond_oracle.CATALOGUE)
    histories = {query: dict.fromkeys(each["history"], 1.0) for query, each in truth.items()}
    grades = {
        query: {item: own for item, own in each["grades"].items() if item in in_catalogue}
        for query, each in truth.items()
    }
    about = replace(
        about, histories=_query_items(histories, about), grades=_query_items(grades, about)
    )
    return _lists({query: final_order(run.get(query, {})) for query in truth}, about)


@dataclass(frozen=True)
class CollectionsMaker(Maker):
    """Worlds of collections of lists, each list written as JSON."""

    def _query(self, random: Random, kind: str) -> tuple[Any, dict[str, float] | None]:
        if kind in ("absent", "empty"):
            return {}, None if kind == "absent" else {}
        some = random.sample(
            beyond_oracle.CATALOGUE, {"single": 1, "long": 60}.get(kind, random.randint(2, 20))
        )
        lists = [
            random.sample(some, random.randint(1, min(len(some), 12)))
            for _ in range(random.randint(1, 12))
        ]
        return {}, {json.dumps(each): random.randrange(8) / 4 for each in lists}


def _join_collections(truth: Mapping[str, Any], run: Run) -> Any:
    names = tuple(sort_ids(truth))
    ranked = [beyond_oracle.users(final_order(run.get(name, {}))) for name in names]
    lists = [
        _lists({f"u{row}": listed for row, listed in enumerate(each)}, _items_beyond())
        for each in ranked
    ]
    return ListCollections(names, tuple(lists))


def _join_logged(truth: Mapping[str, Any], run: Run) -> Any:
    return joined(
        {query: (truth[query], final_order(run.get(query, {}))) for query in sort_ids(truth)}
    )


MAKERS: dict[str, Maker] = {
    "AnswerPairs": AnswersMaker(truth=right_answers, nothing=dict, join=_join_answers),
    "CitedStatements": CitationsMaker(truth=grades, nothing=dict, join=_join_citations),
    "JudgedRankings": Maker(truth=grades, nothing=dict, join=judged_rankings),
    "LoggedRounds": Maker(truth=logged, nothing=dict, join=_join_logged),
    "ItemLists": ListsMaker(truth=grades, nothing=dict, join=_join_lists),
    "ListCollections": CollectionsMaker(truth=grades, nothing=dict, join=_join_collections),
    "GroupRankings": Maker(truth=aspects, nothing=dict, join=_join_aspects(GroupRankings)),
    "IntentRankings": Maker(truth=aspects, nothing=dict, join=_join_aspects(IntentRankings)),
    "PreferenceRankings": Maker(
        truth=preferences, nothing=list, join=_join_preferences, ids_descend=False
    ),
    "RankingPairs": PairsMaker(truth=similarities, nothing=dict, join=_join_pairs),
    "SessionRankings": SessionsMaker(truth=grades, nothing=dict, join=_join_sessions),
    "SecondJudgedRankings": Maker(truth=two_grades, nothing=dict, join=_join_second),
    "RetrievedPassages": PassagesMaker(truth=grades, nothing=list, join=_join_passages),
}


_PER_QUERY: dict[type, tuple[str, ...]] = {
    ItemLists: ("queries",),
    ListCollections: ("queries", "lists"),
    LoggedRounds: ("queries",),
    RetrievedPassages: ("queries", "gold", "chunks"),
    CitedStatements: ("queries", "statements"),
}
"""The fields of views with an element for each query."""


def taken(view: Any, rows: Any) -> Any:
    """The view of some queries only, in the order given by their indices."""
    if type(view) not in _PER_QUERY:
        return view.take(rows)
    fields: dict[str, Any] = {
        name: tuple(getattr(view, name)[row] for row in rows.tolist())
        for name in _PER_QUERY[type(view)]
    }
    if isinstance(view, ItemLists):
        fields |= {"codes": view.codes[rows], "cache": {}}
    if isinstance(view, LoggedRounds):
        kept, offsets = take_segments(view.offsets, rows)
        fields |= {"offsets": offsets, "rows": view.rows.of(kept)}
    return replace(view, **fields)
