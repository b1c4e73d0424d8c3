"""Where no compiler is found, the install succeeds and everything works as it does with one."""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from test_native_reader import shuffled_or_not

ROOT = Path(__file__).resolve().parents[2]
BUILDS = "setuptools" if importlib.util.find_spec("setuptools") else ""

pytestmark = [
    pytest.mark.skipif(
        not BUILDS, reason="setuptools, which builds the package, is not installed here"
    ),
    pytest.mark.skipif(
        not (ROOT / "setup.py").exists(), reason="the sources of the package are not here"
    ),
]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program folder of an environment that has rankwell, installed from its sources without a
    compiler in reach.
    """
    folder = tmp_path_factory.mktemp("bare")
    sources, nothing = folder / "sources", folder / "nothing"
    nothing.mkdir()
    shutil.copytree(
        ROOT / "src",
        sources / "src",
        ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.egg-info"),
    )
    for path in (
        path
        for path in ROOT.iterdir()
        if path.is_file() and path.suffix in (".py", ".toml", ".md", ".in", "")
    ):
        shutil.copy(path, sources)
    venv.create(folder / "venv", symlinks=os.name != "nt")
    own = sysconfig.get_paths(vars={"base": str(folder / "venv"), "platbase": str(folder / "venv")})
    # The packages that are installed here, but not what their .pth files add: not the rankwell of
    # this checkout.
    here = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    Path(own["purelib"], "here.pth").write_text("".join(f"{path}\n" for path in here))
    install = [
        Path(own["scripts"], "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-index",
    ]
    options = [
        "--no-deps",
        "--no-build-isolation",
        "--ignore-installed",
        "--no-warn-script-location",
        str(sources),
    ]
    done = run([*install, *options], nothing)
    assert done.returncode == 0, done.stderr
    return Path(own["scripts"])


def run(
    command: list[str | Path], path: Path, **options: object
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(path), "CC": "no-compiler-here", "CXX": "no-compiler-here"}
    inherited = {
        name: os.environ[name] for name in ("HOME", "TMPDIR", "SYSTEMROOT") if name in os.environ
    }
    return subprocess.run(
        command, env=environment | inherited, capture_output=True, text=True, check=False, **options
    )


@pytest.mark.slow
def test_the_install_says_that_numpy_reads(bare: Path, tmp_path: Path):
    done = run([bare / "rankwell", "--version"], bare, cwd=tmp_path)

    assert (
        done.stdout.splitlines()[1]
        == "compiled kernel: no; the figures are the same, but take longer"
    )
    assert done.returncode == 0
    assert not list(bare.parent.rglob("rankwell/_native/*.so"))


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.slow
def test_the_figures_are_those_of_this_installation(bare: Path, tmp_path: Path, seed: int):
    content, truth = shuffled_or_not(seed)
    run_file, qrels = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run_file.write_bytes(content)
    qrels.write_text(
        "".join(
            f"{query} 0 {item} {grade:g}\n"
            for query, graded in truth.items()
            for item, grade in graded.items()
        )
    )
    command = ["trec-eval", "-q", "-c", "-m", "all_trec", str(qrels), str(run_file)]

    without = run([bare / "rankwell", *command], bare, cwd=tmp_path)

    here = subprocess.run(
        [sys.executable, "-m", "rankwell", *command], capture_output=True, text=True, check=False
    )
    assert without.returncode == here.returncode == 0, without.stderr + here.stderr
    assert without.stdout == here.stdout
    assert without.stdout.count("\n") > 1000
