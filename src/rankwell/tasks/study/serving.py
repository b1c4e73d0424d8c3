"""A session served until Ctrl-C: its journal locked, the browser opened."""

import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress

from rankwell.errors import printable
from rankwell.tasks.study.folder import Study
from rankwell.tasks.study.journal import held_journal
from rankwell.tasks.study.judging_server import JudgingServer
from rankwell.tasks.study.judging_session import JudgingSession
from rankwell.tasks.study.opening import opening_file
from rankwell.tasks.study.options import JudgeOptions


def serve_session(
    study: Study, judge: str, options: JudgeOptions, *, browser: bool
) -> tuple[int, Sequence[str]]:
    """Serves the page of a judge until Ctrl-C; returns the number of lines written, and notes.

    Raises BadUsage where another process has the judge's journal.
    """
    with held_journal(study, judge):
        session = JudgingSession(study, judge, options)
        path = study.place / f"open-{judge}.html"
        with JudgingServer(session) as server, opening_file(path, server.origin, server.token):
            opened = browser and webbrowser.open(path.resolve().as_uri())
            how = "opened in the browser" if opened else f"open {printable(str(path))} in a browser"
            with suppress(KeyboardInterrupt):
                sys.stderr.write(f"judging as {judge} at {server.origin}: {how}; Ctrl-C ends it\n")
                sys.stderr.flush()
                server.serve_forever(poll_interval=0.1)
        return session.n_acts, session.notes
