"""Command lines of measures of sessions and of second judgments, and of captions in folds."""

from pathlib import Path
from random import Random

from regression.worlds import ITEMS, QUERIES


def write(folder: Path) -> None:
    """Sessions of the queries, with places and without, and second grades of most items."""
    random = Random(60)
    rows = [(query, f"s{place // 3}", place % 3 + 1) for place, query in enumerate(QUERIES)]
    (folder / "sessions.csv").write_text(
        "query,session\n" + "".join(f"{query},{session}\n" for query, session, _ in rows)
    )
    random.shuffle(rows)
    (folder / "places.csv").write_text(
        "query,session,position\n"
        + "".join(f"{query},{session},{n}\n" for query, session, n in rows)
    )
    (folder / "torn.csv").write_text(
        "query,session\n" + "".join(f"{query},{session}\n" for query, session, _ in rows[:5])
    )
    second = [
        f"{query} 0 {item} {random.randint(0, 3)}\n"
        for query in QUERIES
        for item in ITEMS
        if random.random() < 0.8
    ]
    (folder / "second.txt").write_text("".join(second), encoding="utf-8")


BASE = "evaluate qrels.txt a.run b.run"
SESSIONS = "-m 'SessionDCG@10 SessionRBP(b=0.5)'"
FOLDS = "captions captions/clear.npy --positives counts:3"
CASES = {
    "evaluate/sessions": f"{BASE} {SESSIONS} --sessions sessions.csv:session",
    "evaluate/sessions-places": f"{BASE} {SESSIONS} --sessions places.csv:session,position -q "
    "-f json",
    "evaluate/sessions-folder": f"{BASE} {SESSIONS} --sessions sessions.csv:session -o "
    "out\nreport out\ncompare out",
    "evaluate/sessions-torn": f"{BASE} {SESSIONS} --sessions torn.csv:session",
    "evaluate/sessions-unnamed": f"{BASE} {SESSIONS}",
    "evaluate/second": f"{BASE} -m 'Bpref uBpref uBpref(factor=0.25)' --other-judgments second.txt",
    "evaluate/second-unnamed": f"{BASE} -m uBpref",
    "captions/folds": f"{FOLDS} --folds 2 -c vse",
    "captions/folds-folder": f"{FOLDS} --folds 2 -c vse -o out\nreport out",
    "captions/folds-uneven": f"{FOLDS} --folds 7",
}
