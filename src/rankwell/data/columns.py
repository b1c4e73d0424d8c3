"""Names: of items without ids, of tables without names, of columns in other tools' tables, and as
SQL literals.
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import distance_as_score, doubtful_columns, no_column_of_grades
from rankwell.errors import (
    KEEP_ONE,
    BadInput,
    BadUsage,
    DuplicateItem,
    flag,
    is_offered,
    kind_of,
    missing_column,
)
from rankwell.store import utf8_path

if TYPE_CHECKING:
    from rankwell.data.options import ColumnChoice

Holds = Literal[
    "run",
    "judgments",
    "texts",
    "preferences",
    "embeddings",
    "scores",
    "column",
    "numbers",
    "records",
]
Duplicates = Literal["error", "first", "best"]
Repeats = Literal[Duplicates, "keep"]
"""The treatment of an item that a list has twice; `keep` leaves it at all its places, each of which
counts.
"""

NOTHING = "-1"
"""The item that faiss and others write in place of a missing one."""

# In order of preference: PyTerrier's tables have `qid` beside the text `query`, and `docno` beside
# an internal number `docid`.
_QUERY: tuple[str, ...] = ("queryid", "qid", "questionid", "topicid", "topic", "query")
_USER: tuple[str, ...] = ("userid", "user")
"""The query in a table of a recommender, where no column is named as one."""
_QUESTION: tuple[str, ...] = ("question",)
"""The query in judgments or a run, where no column is named as one; elsewhere it is a text."""
_ITEM = (
    "docno",
    "docid",
    "did",
    "corpusid",
    "pid",
    "passageid",
    "itemid",
    "item",
    "documentid",
    "document",
    "doc",
)
_MEDIA = ("sliceid", "clipid", "videoid", "imageid", "movieid")
_CHUNK = ("chunkid", "nodeid", "id")
_RESULT: tuple[str, ...] = (*_ITEM, *_MEDIA, *_CHUNK)
"""The item in a run, where `id` beside a query is that of a result."""
_LISTING = (*_QUERY[:-1], "questionid", "id", "query", "question", "userinput", *_USER)
"""The query in a row that lists its items, where `id` is its own, and other names may hold its
text.
"""
_LISTED = {
    "run": ("retrieved", "results", "hits", "chunks", "contexts", "documents", "docs"),
    "judgments": (
        "gold",
        "relevant",
        "expected",
        "positive",
        "positives",
        "groundtruth",
        "reference",
    ),
}
_MEMBERS = (
    "docs",
    "documents",
    "passages",
    "items",
    "chunks",
    "ids",
    "docids",
    "chunkids",
    "contextids",
)
_LISTS = {
    holds: [f"{kind}{members}" for members in (*_MEMBERS, "") for kind in kinds]
    for holds, kinds in _LISTED.items()
}
"""The items in a row that lists those of a query, such as `gold_docs`; the longest names first."""
_SCORE: tuple[str, ...] = ("score", "sim", "similarity", "similarityscore", "rsv")
_DISTANCE: tuple[str, ...] = ("distance",)
_RANK: tuple[str, ...] = ("rank",)
_PREDICTED: tuple[str, ...] = (
    "prediction",
    "predicted",
    "pred",
    "probability",
    "prob",
    "logit",
    "confidence",
)
"""Names of columns that may order a run, and do not unless they are chosen."""
ROWS_COMPARED = 1 << 18
"""Rows at the beginning of a table in which columns that could order it are compared."""
_DOUBTFUL: dict[str, tuple[str, ...]] = {
    "grade": ("gain",),
    "score": ("rating",),
    "rank": ("position",),
}
"""Names of columns that are read as no value of this kind, and could be one."""
_TEXTUAL = ("query", "docid", "document", "doc", "id", "nodeid")
"""Names of ids beside which other columns of ids are usual: these then hold texts, or numbers of
rows.
"""
_GRADE: tuple[str, ...] = ("relevance", "rel", "grade", "label", "judgment", "judgement", "rating")
_TIME: tuple[str, ...] = ("timestamp", "time")
_ASPECT: tuple[str, ...] = ("aspect", "intent", "subtopic", "group", "iteration", "iter")
_ID: tuple[str, ...] = ("id", *_QUERY[:-1], *_ITEM, *_MEDIA)
TEXT: tuple[str, ...] = ("text", "query", "question", "contents", "content", "passage", "body")
"""The names of a column of texts."""
_TEXT = (*TEXT, "title")  # which is the text where there is no other


class Columns(NamedTuple):
    """The names of the columns of a table that are read.

    owner: the column of the query, or of the id of a text.
    item: the column of the item; for texts the same as `owner`.
    value: the column of score, distance, rank, grade or text; "" where each row counts 1.
    aspect: the column of the judgment group or intent; None where these are not requested.
    rank: the column of ranks, also where scores order the run; None where there is none.
    is_distance: whether `value` is a distance, of which lower is better.
    unread: the other columns, where no column is a grade.
    rivals: columns that could order a run as well, where the user chose none.
    doubts: sentences on columns that were chosen where others could be meant.
    """

    owner: str
    item: str
    value: str
    aspect: str | None = None
    rank: str | None = None
    is_distance: bool = False
    unread: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def by_rank(self) -> bool:
        """Whether the value is a rank, of which small is good."""
        return self.value == self.rank

    @property
    def is_falling(self) -> bool:
        """Whether small values are good, so that scores are the values with their signs turned."""
        return self.by_rank or self.is_distance

    @property
    def expected_number(self) -> str:
        """The kind of number that a value is, for the error that refuses another."""
        if not self.by_rank:
            return "a finite number"
        rank = "a rank, which is an integer from 0 on, or half-way between two for ties"
        if not may_choose("run"):
            return rank
        return (
            f"{rank} (if more is better, it is a score: {flag('--columns', f'score={self.value}')})"
        )

    def findings(self, file: str = "") -> list[Finding]:
        """Findings on the direction of a distance, and on columns of which none is a grade."""
        doubts = [doubtful_columns(doubt, file) for doubt in self.doubts]
        if self.unread:
            return [no_column_of_grades(self.unread, file), *doubts]
        return [*([distance_as_score(self.value, file)] if self.is_distance else []), *doubts]


class ResultKeys(NamedTuple):
    """The keys of one entry in a list, whatever it calls its id and its number.

    item: the key of the id; None where there is none.
    chunk: the key of the id of a chunk of the item; None where there is none.
    number: the key of its score, else of its distance, else of its rank; of judgments that of its
        grade; None where there is none of them.
    is_distance: whether the number is a distance.
    is_falling: whether lower numbers are better, as for distances and ranks.
    """

    item: str | None
    chunk: str | None
    number: str | None
    is_distance: bool
    is_falling: bool


@lru_cache(maxsize=1 << 16)  # every format asks for the names of every column
def _plain(name: str) -> str:
    # RecBole writes types behind the names, as in `user_id:token`.
    return re.sub(r"[\s_-]|:(token|float)(_seq)?$", "", name.lower())


def _column(names: Sequence[str], words: Sequence[str]) -> str | None:
    """The column that goes by the earliest of the words. Raises BadInput where two columns share
    it.
    """
    for word in words:
        same_names = [name for name in names if _plain(name) == word]
        if len(same_names) > 1:
            raise BadInput(
                f"columns {same_names[0]!r} and {same_names[1]!r} mean the same; rename or drop "
                "one of them."
            )
        if same_names:
            return same_names[0]
    return None


def _id_of_texts(names: Sequence[str]) -> str | None:
    """The column of ids beside texts: `query` is one where a column `text` has the text."""
    return _column(names, _ID) or (
        _column(names, ("query",)) if _column(names, ("text",)) else None
    )


@lru_cache(maxsize=1 << 10)  # the results of a list have the same keys
def result_keys(
    names: tuple[str, ...], chosen: tuple[tuple[str, str], ...] = (), *, graded: bool = False
) -> ResultKeys:
    """The keys that matter in a result, or in a judged item, whatever it calls its id and its
    number. chosen: what holds what -> its key. Raises BadInput where two mean the same, and for a
    chosen one that is not there.
    """
    choice = {role: column_named(name, names, "") for role, name in chosen}
    item = choice.pop("item", None) or _column(names, _RESULT)
    words = (*_GRADE, *_SCORE) if graded else (*_SCORE, *_DISTANCE, *_RANK)
    number = next(iter(choice.values()), None) or _column(names, words)
    falls = "rank" in choice or (not choice and is_falling(number or ""))
    chunk = _column([name for name in names if name != item], _CHUNK)
    return ResultKeys(item, chunk, number, falls and _plain(number or "") in _DISTANCE, falls)


@lru_cache(maxsize=1 << 10)
def row_keys(names: tuple[str, ...], holds: str) -> tuple[str | None, str | None]:
    """The keys of a query's id and of its list of items, in a row that may have both. Raises
    BadInput where two mean the same.
    """
    return _column(names, _LISTING), _column(names, _LISTS[holds])


def unknown_list(row: Mapping[str, Any], holds: Literal["run", "judgments"]) -> str:
    """Advice for a row that has a query and a list, under no name of such lists; "" for any other
    row.
    """
    names = tuple(row)
    lists = [name for name, value in row.items() if isinstance(value, list)]
    query, _ = row_keys(names, holds)
    item = _column([name for name in names if name != query], _item_words(holds))
    if len(lists) != 1 or not query or item or not may_choose(holds):
        return ""
    choice = flag(_CHOICES[holds][0], f"item={lists[0]}")
    return f"; if {lists[0]!r} lists the items of a query, say so with {choice}"


def query_key(names: Sequence[str]) -> str | None:
    """The key of a query's id. Raises BadInput where two mean the same."""
    return _column(names, _QUERY)


def row_names(rows: Any) -> list[str]:
    """The names of the cells in a list of rows."""
    return list(dict.fromkeys(name for row in rows for name in getattr(row, "_fields", row)))


def known_columns(names: Sequence[str]) -> int:
    """Number of columns with a recognised name."""
    words = {
        *_QUERY,
        *_USER,
        *_QUESTION,
        *_ITEM,
        *_SCORE,
        *_DISTANCE,
        *_RANK,
        *_GRADE,
        *_ID,
        *_TEXT,
    }
    return sum(_plain(name) in words for name in names)


def _item_words(holds: Holds) -> tuple[str, ...]:
    return {"run": _RESULT, "judgments": (*_ITEM, *_MEDIA)}.get(holds, _ITEM)


UNKNOWN = 0.2
"""The likelihood of tables of which some columns are known, and not those that are needed most:
query and item.
"""


def likelihood(names: Sequence[str], holds: Holds, *, has_integer_scores: bool) -> float:
    """Confidence that a table with these columns holds the expected data, from 0 to 1; from 0.5 on
    it can be read so.

    has_integer_scores: whether the column `score` holds integers, as in BEIR's judgments, which
    call the grade `score`.
    """
    query, item, score = (
        _column(names, (*_QUERY, *_USER)),
        _column(names, _ITEM),
        _column(names, _SCORE),
    )
    if holds == "texts":
        fits = bool(_id_of_texts(names) and _column(names, _TEXT)) and not (query and item)
        return 0.9 if fits else UNKNOWN * bool(known_columns(names))
    if holds in ("run", "judgments"):
        query = query or _column(names, _QUESTION)
        item = _column(names, _item_words(holds))
    run, graded = bool(score or _column(names, (*_DISTANCE, *_RANK))), bool(_column(names, _GRADE))
    beir = has_integer_scores and {_plain(name) for name in names} == {
        "queryid",
        "corpusid",
        "score",
    }
    if not (query and item) or holds == "preferences":
        return UNKNOWN * bool(known_columns(names) > 1 and holds != "preferences")
    if holds == "run":
        return (0.3 if beir else 0.9) if run else 0.3
    if graded:
        return 0.8 if run else 0.9
    return (0.95 if beir else 0.6) if score and has_integer_scores else 0.3


_CHOICES: dict[str, tuple[str, tuple[str, ...]]] = {
    "run": ("--columns", ("query", "item", "score", "rank")),
    "judgments": ("--qrels-columns", ("query", "item", "grade")),
    "log": ("--columns", ("query", "item", "position", "reward", "propensity")),
    "texts": ("--columns", ("text", "id", "title")),
}
"""The option that chooses columns, and what it may choose."""


def may_choose(holds: str) -> bool:
    """Whether messages may name the option that chooses columns."""
    return is_offered("columns" if holds == "run" else "qrels_columns")


def chosen_columns(
    choice: "ColumnChoice | None", holds: Literal["run", "judgments", "log", "texts"]
) -> dict[str, str]:
    """The names or numbers of the chosen columns, by what they hold. Raises BadUsage for another
    form.
    """
    if choice is None:
        return {}
    option, allowed = _CHOICES[holds]
    numbers = ",".join(f"{key}={number}" for number, key in enumerate(allowed[:3], 1))
    example = flag(option, "text=body,id=key" if holds == "texts" else numbers)
    if isinstance(choice, str):
        pairs = [
            (key.strip(), value.strip())
            for key, _, value in (part.partition("=") for part in choice.split(","))
        ]
    elif isinstance(choice, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - what Python passes
        pairs = [(str(key), str(value)) for key, value in choice.items()]
    else:
        raise BadUsage(
            f"{flag(option)} is {kind_of(choice)}; expected text or a mapping, as in {example}."
        )
    choices = dict(pairs)
    text = choice if isinstance(choice, str) else dict(choice)
    for key, value in pairs:
        if key not in allowed or not value:
            raise BadUsage(
                f"{flag(option, text)}: {key!r} is none of {', '.join(allowed)} with a column; "
                f"write it as in {example}."
            )
    columns = {place_of(name) or name for name in choices.values()}
    if (
        not choices
        or len(pairs) > len(choices)
        or len(columns) < len(choices)
        or {"score", "rank"} <= choices.keys()
    ):
        values = ", and one of score and rank" if "rank" in allowed else ""
        raise BadUsage(
            f"{flag(option, text)}: name each column once{values}; write it as in {example}."
        )
    return choices


def refuse_unused_columns(
    choice: "ColumnChoice | None", holds: Literal["run", "judgments"], missing_input: str
) -> None:
    """Raises BadUsage for chosen columns of a file that is not given.
    missing_input: would name it.
    """
    if choice is not None:
        chosen_columns(choice, holds)
        option = flag(_CHOICES[holds][0], choice if isinstance(choice, str) else dict(choice))
        raise BadUsage(
            f"{option} has no effect without {missing_input}; give it, or leave this out."
        )


def place_of(name: str) -> int:
    """The number from 1 by which a column is chosen; 0 for a name."""
    return int(name) if re.fullmatch(r"[0-9]{1,9}", name) else 0


def refuse_names(names: Sequence[str]) -> None:
    """Raises BadInput for a name that two columns have, and for more columns than can be read
    within seconds.
    """
    from rankwell.documents import refuse_wide, repeated_name

    refuse_wide(len(names))
    if double := repeated_name(names):
        raise BadInput(f"two columns are called {double!r}; rename or drop one of them.")


def column_named(name: str, names: Sequence[str], option: str) -> str:
    """The column of a name or a number from 1. Raises BadInput that lists what was found."""
    if name in names:
        return name
    if 0 < (number := place_of(name)) <= len(names):
        return names[number - 1]
    counted = ", where columns count from 1" if name.isdigit() else ""
    raise missing_column(name, names, place=f"{option}{counted}")


def choose_columns(
    names: Sequence[str],
    holds: Holds,
    *,
    aspects: bool = False,
    chosen: Mapping[str, str] | None = None,
    ungraded: bool = False,
) -> Columns:
    """The columns to read: of a run its score, or else distance or rank, of judgments their grade
    or `score`, as in BEIR.

    chosen: names or numbers of columns, which win over what they are called. ungraded: whether
    judgments need no grade. Raises BadInput for a column that is not there.
    """
    chosen_names = {
        key: column_named(name, names, "" if holds == "texts" else flag(_CHOICES[holds][0]))
        for key, name in (chosen or {}).items()
    }
    if len(set(chosen_names.values())) < len(chosen_names):
        raise BadInput(
            f"{flag(_CHOICES[holds][0])} names {next(iter(chosen_names.values()))!r} more than "
            "once; name each column once."
        )
    if holds == "texts":
        owner = item = _id_of_texts(names)
    else:
        owner = chosen_names.get("query") or _column(names, (*_QUERY, *_USER, *_QUESTION))
        item = chosen_names.get("item") or _column(names, _item_words(holds))
    words = {"run": _SCORE, "judgments": (*_GRADE, "score"), "texts": _TEXT}[holds]
    distance, rank = (
        _column(names, words) if holds == "run" else None for words in (_DISTANCE, _RANK)
    )
    score = chosen_names.get("score") or chosen_names.get("grade") or _column(names, words)
    if "rank" in chosen_names:
        score, distance, rank = None, None, chosen_names["rank"]
    elif chosen_names.get("score") == rank:
        rank = None  # what is chosen as a score is none by its name
    value = chosen_names.get("text") or score or distance or rank
    aspect = _column(names, _ASPECT) if aspects else None
    number = {"run": "rank" if value == rank else "score", "judgments": "grade"}.get(holds, "")
    doubts = (
        _doubts(names, holds, {"query": owner, "item": item, number: value}, chosen_names)
        if number
        else ()
    )
    if holds == "judgments" and owner and item and value is None:
        unread = tuple(
            name
            for name in names
            if name not in (owner, item, aspect) and _plain(name) not in _TIME
        )
        if ungraded:
            return Columns(owner, item, "", aspect, unread=unread, doubts=doubts)
        if not unread and not aspects:
            # Purchases and clicks; in a wider table a grade may go by another name.
            doubts = ("no column holds grades, so each row counts as 1",)
            return Columns(owner, item, "", doubts=doubts)
    unread_words = (*_DISTANCE, *_RANK) if holds == "run" else ()
    wanted = {
        "query": (owner, (*_QUERY, *_USER, *_QUESTION)),
        "item": (item, _item_words(holds)),
        "score" if holds == "run" else "grade": (value, words + unread_words),
    }
    if holds == "texts":
        wanted = {"id": (owner, _ID), "text": (value, words)}
    if aspects:
        wanted["aspect"] = (aspect, _ASPECT)
    missing = {role: words for role, (name, words) in wanted.items() if name is None}
    if missing or owner is None or item is None or value is None:
        option = ""
        if holds == "texts":
            option = "FILE:COLUMN" * ("id" not in missing)
        elif holds in _CHOICES and not aspects and may_choose(holds):
            option = flag(_CHOICES[holds][0], ",".join(f"{role}=NAME" for role in missing))
        raise missing_column(missing, names, option)
    ordering = (
        {_column(names, (word,)) for word in (*_SCORE, *_DISTANCE, *_RANK, *_PREDICTED)}
        if holds == "run"
        else set()
    )
    rivals = tuple(
        name
        for name in names
        if name in ordering - {value} and not {"score", "rank"} & chosen_names.keys()
    )
    return Columns(
        owner, item, value, aspect, rank, value == distance, rivals=rivals, doubts=doubts
    )


def _doubts(
    names: Sequence[str],
    holds: Holds,
    column_of_role: Mapping[str, str | None],
    chosen_names: Mapping[str, str],
) -> tuple[str, ...]:
    """Sentences on columns that were taken, and not chosen, where others could be meant; usual
    pairs are none.
    """
    words = {"query": _QUERY, "item": _item_words(holds), "grade": (*_GRADE, "score")}
    sentences = list[str]()
    for key, name in column_of_role.items():
        alike = {
            word for word in (*words.get(key, ()), *_DOUBTFUL.get(key, ())) if word not in _TEXTUAL
        }
        rivals = [
            rival
            for rival in names
            if _plain(rival) in alike
            and rival not in (*column_of_role.values(), *chosen_names.values())
        ]
        if name is not None and key not in chosen_names and rivals:
            problem = (
                f"{name!r} is taken for the {key}, and {', '.join(map(repr, rivals))} is not read"
            )
            advice = "rename one of them"
            if may_choose(holds):
                advice = f"say so with {flag(_CHOICES[holds][0], f'{key}={rivals[0]}')}"
            sentences.append(f"{problem}; if that is wrong, {advice}.")
    return tuple(sentences)


def are_ranks(numbers: Any) -> Any:
    """Whether a number, or each of an array, can be a rank: an integer from 0 on, or half-way
    between two, as means of ties.
    """
    return (numbers >= 0) & (2 * numbers % 1 == 0)


def is_falling(name: str) -> bool:
    """Whether small values of a column of this name are good."""
    return _plain(name) in (*_DISTANCE, *_RANK)


def contradicting(columns: Columns, rival: str, query: str) -> BadInput:
    """The error for two columns that order the items of a query differently."""
    options = [
        flag("--columns", f"{'rank' if _plain(name) in _RANK else 'score'}={name}")
        for name in (columns.value, rival)
    ]
    problem = (
        f"the columns {columns.value!r} and {rival!r} order the items of query {query!r} "
        "differently"
    )
    if not may_choose("run"):
        return BadInput(f"{problem}; leave one of them out.")
    return BadInput(f"{problem}; say which one orders them, with {options[0]} or {options[1]}.")


def choose_column(names: Sequence[str], name: str = "") -> str:
    """The one column to read: the named one, else the only one, else that of ids. Raises BadInput
    that lists what was found.
    """
    if not names:
        raise BadInput("no column is found; expected a table with names of columns.")
    if name and name not in names:
        raise missing_column(name, names)
    column = name or (names[0] if len(names) == 1 else _column(names, _ID))
    if column is None:
        raise missing_column({"id": _ID}, names, f"FILE:{names[0]}")
    return column


def repeated_item(problem: str, item: str, also: str = "") -> DuplicateItem:
    """The error for an item that a run lists twice for a query. also: further advice."""
    advice = f"{KEEP_ONE}{also}"
    if item == NOTHING:
        advice = "indexes write it in place of an item where they find too few; leave it out"
    elif not also and is_offered("duplicates"):
        advice += f", or choose {flag('--duplicates', 'first')}"
    return DuplicateItem(f"{problem}; {advice}.")


def unique_rows(
    queries: Sequence[str],
    items: Sequence[str],
    values: Sequence[float],
    duplicates: Repeats,
    twice: set[str] | None = None,
) -> tuple[Sequence[str], Sequence[str], Sequence[float]]:
    """The rows, of repeated items the `first` or the `best` in its place; others change nothing.
    twice: notes their queries.
    """
    if duplicates == "error" or (duplicates == "keep" and twice is None):
        return queries, items, values
    row_of_pair: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(zip(queries, items, strict=True)):
        chosen_row = row_of_pair.setdefault(pair, row)
        if chosen_row != row and twice is not None:
            twice.add(pair[0])
        if duplicates == "best" and values[row] > values[chosen_row]:
            row_of_pair[pair] = row
    if duplicates == "keep":
        return queries, items, values
    rows = sorted(row_of_pair.values())
    return (
        [queries[row] for row in rows],
        [items[row] for row in rows],
        [values[row] for row in rows],
    )


def quoted(name: str) -> str:
    """The name of a column as an SQL literal."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(content: Path | str) -> str:
    """A text as an SQL literal, or a path that DuckDB can open."""
    text = str(utf8_path(content) if isinstance(content, Path) else content)
    return "'" + text.replace("'", "''") + "'"


def unwritable(noun: str, error: Exception) -> BadInput:
    """The error for a file that DuckDB cannot write, with the system's reason."""
    number = re.search(r'"errno":"(\d+)"', str(error))
    reason = (
        os.strerror(int(number[1])) if number else str(error).partition("\n")[0].rpartition(": ")[2]
    )
    return BadInput(f"{noun} cannot be written ({reason}); is there room on the disk?")


def parquet(path: Path | str, *, numbered: bool = False) -> str:
    """The rows of one Parquet file; no column comes from the names of its folders. numbered: with
    `file_row_number`.
    """
    # Brackets and stars in a path would be a pattern of files.
    name = str(utf8_path(path) if isinstance(path, Path) else path)
    plain = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
    number = "file_row_number=true, " if numbered else ""
    return (
        f"read_parquet({sql_text(plain)}, {number}hive_partitioning=false, binary_as_string=true)"
    )
