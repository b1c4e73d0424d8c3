"""What a mean, a spread or an interval once was and is: figures of equal or skewed values, and the
caller's `np.seterr`.
"""

from hardening.cases import Case, Write, text_files

_TENTH = "".join(
    f"q{query} Q0 d{item} {item} {20 - item} r\n" for query in range(100) for item in range(1, 11)
)
_TRUTH = "".join(f"q{query} 0 d10 1\n" for query in range(100))


def _tenths() -> Write:
    """A hundred queries whose only relevant item is the tenth: each has an RR of 0.1."""
    return text_files({"qrels": _TRUTH, "run": _TENTH})


def _run(name: str, ranks: list[int]) -> str:
    """A run of queries with one relevant item each, `d0`, at these ranks; not retrieved for 0."""
    lists = [
        [f"x{place}" if place != rank else "d0" for place in range(1, max(rank, 1) + 1)]
        for rank in ranks
    ]
    return "".join(
        f"q{query} Q0 {item} {place} {100 - place} {name}\n"
        for query, items in enumerate(lists)
        for place, item in enumerate(items, 1)
    )


def _ranked(**runs: list[int]) -> Write:
    """Judgments of one relevant item a query, and runs by the ranks of it."""
    n = max(map(len, runs.values()))
    qrels = "".join(f"q{query} 0 d0 1\n" for query in range(n))
    return text_files({"qrels": qrels, **{name: _run(name, ranks) for name, ranks in runs.items()}})


_SETERR = """python: import numpy as np, rankwell as rw; np.seterr(all="raise"); \
queries = [f"q{n}" for n in range(12)]; run = {q: {f"d{n}": 10.0 ** -(44 + n) for n in range(5)} for q in queries}; \
print(rw.evaluate({q: {"d0": 1} for q in queries}, run, "RR", convention="trec_eval9")["RR"])"""  # noqa: E501

CASES: list[Case] = [
    Case(
        "the mean of a hundred tenths",
        "evaluate qrels run -m RR -f json",
        _tenths(),
        codes=(0,),
        shows=r'"mean": 0\.1,\s+"sd": 0(\.0)?,',
    ),
    Case(
        "scores below single precision where NumPy raises",
        _SETERR.replace("\\\n", ""),
        codes=(0,),
        shows=r"^1\.0",
    ),
    Case(
        "ten queries that are all near 0, of which a few others may be high",
        "evaluate qrels run -m RR",
        _ranked(run=[60, 61, 62, 63, 64, 65, 66, 67, 68, 69]),
        codes=(0,),
        shows=r"10 queries cannot rule out that up to 26 % of\s+queries have very different ones",
    ),
    Case(
        "an interval without a width, of equal values",
        "evaluate qrels run -m RR --intervals bootstrap",
        _ranked(run=[3] * 12),
        codes=(0,),
        shows="the interval has no width",
    ),
    Case(
        "a forecast for runs that are equal",
        "evaluate qrels a b -m RR -o out\ncompare out --plan",
        _ranked(a=[2] * 12, b=[2] * 12),
        codes=(4,),
        shows="no query differs between a and b, of 12; power is not known without a difference",
    ),
    Case(
        "an interval without a width, of equal differences",
        "compare qrels a b -m RR --verbose",
        _ranked(a=[2] * 12, b=[1] * 12),
        codes=(0,),
        shows="every query differs by as much",
    ),
]
