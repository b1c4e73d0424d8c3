"""Objects of LangChain, LlamaIndex, Haystack and PyTerrier as their tutorials make them, each in an
environment of its own.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from engines.environments import ROOT, environment
from full_run import record

TUTORIALS = Path(__file__).with_name("tutorials")
_ASKING = 300


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(
    ("framework", "packages"),
    [
        ("langchain", ["langchain-core"]),
        ("llamaindex", ["llama-index-core"]),
        ("haystack", ["haystack-ai"]),
        ("pyterrier", ["pyterrier-pisa"]),
    ],
)
def test_objects_of_a_framework_return_its_own_lists_in_its_order(
    framework: str, packages: list[str], tmp_path: Path
):
    programs = environment(framework, packages)
    settings = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONWARNINGS": "",
        "HAYSTACK_TELEMETRY_ENABLED": "false",
        "HOME": str(tmp_path),
    }
    script = [str(programs / "python"), str(TUTORIALS / f"of_{framework}.py")]
    done = subprocess.run(
        script, cwd=tmp_path, env=settings, capture_output=True, encoding="utf-8", timeout=_ASKING
    )

    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout.splitlines()[-1])
    found = shown["asked"]
    assert len(found) >= 3
    assert {name: (each["nDCG"], each["recall"]) for name, each in found.items()} == dict.fromkeys(
        found, (1, 1)
    )
    record(
        framework,
        {**shown["packages"], "queries": {name: each["queries"] for name, each in found.items()}},
    )
