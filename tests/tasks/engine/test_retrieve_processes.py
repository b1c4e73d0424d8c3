"""Processor time of a server that is named, and several clients of an engine that each have a
worker process.
"""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import rankwell as rw
from tasks.engine import engines_here
from tasks.engine.test_retrieve import command, queries


def processor_ticks(pid: int) -> int:
    """User and system time of a process in clock ticks, as the kernel counts them."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_processor_time_of_a_named_server_is_what_the_kernel_counts() -> None:
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        before = processor_ticks(busy.pid)
        result = rw.evaluate_engine(
            engines_here.slow, queries(10), rounds=2, warm_up=0, server_pid=busy.pid
        )
        used = (processor_ticks(busy.pid) - before) / os.sysconf("SC_CLK_TCK")
    finally:
        busy.kill()
        busy.wait()

    reports = result.measured.by_setting[0].reports()
    servers = [each.server for each in reports]
    assert all(each is not None and each > 0 for each in servers)
    assert sum(servers) <= used + 0.02
    rows = {row["measure"]: row for row in result.summary}
    after_first = reports[1].client + reports[1].server
    # From one second of processor time on; the machine of the test may be too busy for it.
    if after_first >= 1:
        assert rows["processor"]["mean"] == pytest.approx(1000 * after_first / 10)
    else:
        assert "processor" not in rows


def test_each_client_of_an_engine_in_process_is_a_worker_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "queries.tsv").write_text(
        "".join(f"{query}\t{text}\n" for query, text in queries(24).items())
    )

    done = command(
        tmp_path,
        "engine run engines_here:who --queries queries.tsv --clients 2 --rounds 2 --warm-up 0 "
        "-o out --verbose",
    )

    assert done.returncode == 0, done.stderr
    assert "requests=closed, 2 clients" in done.stdout
    asked = duckdb.sql(
        f"SELECT query, round, count(*) FROM '{tmp_path}/out/timings.parquet' GROUP BY ALL"
    ).fetchall()
    assert sorted(asked) == sorted((query, number, 1) for query in queries(24) for number in (1, 2))
    workers = duckdb.sql(f"SELECT DISTINCT item FROM '{tmp_path}/out/run.parquet'").fetchall()
    assert len(workers) == 2
    # The processes run at once: requests of one begin before those of the other have ended.
    spans = duckdb.sql(
        f"SELECT min(sent), max(done) FROM '{tmp_path}/out/timings.parquet' t JOIN "
        f"'{tmp_path}/out/run.parquet' r USING (query) "
        "WHERE t.round = 1 GROUP BY r.item"
    ).fetchall()
    assert max(start for start, _ in spans) < min(end for _, end in spans)
