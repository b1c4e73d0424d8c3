"""The standard library's documentation as a corpus: what is in it, and that reading it does nothing
else.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankwell.vectors.media import python_docs
from rankwell.vectors.media.python_docs import Entry, first_sentence, words


@pytest.fixture(scope="module")
def modules() -> dict[str, Entry]:
    return {entry.id: entry for entry in python_docs.modules()}


@pytest.fixture(scope="module")
def functions() -> dict[str, Entry]:
    return {entry.id: entry for entry in python_docs.functions()}


def run_python(code: str, folder: Path, **environment: str) -> str:
    """What a fresh interpreter prints, started in `folder` and without the modules that pytest has
    loaded.
    """
    path = os.pathsep.join(["", *sys.path])
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_entries_are_sorted_and_their_ids_unique():
    for entries in (python_docs.modules(), python_docs.functions()):
        ids = [entry.id for entry in entries]

        assert ids == sorted(set(ids))


def test_the_corpus_has_the_size_of_a_library(
    modules: dict[str, Entry], functions: dict[str, Entry]
):
    assert len(modules) > 200
    assert len(functions) > 3000


@pytest.mark.parametrize(
    "name", ["argparse", "math", "os", "os.path", "collections.abc", "xml.etree.ElementTree", "sys"]
)
def test_modules_of_every_kind_are_entries(modules: dict[str, Entry], name: str):
    assert len(modules[name].text) > 500


@pytest.mark.parametrize(
    "name",
    [
        "antigravity",
        "this",
        "idlelib",
        "tkinter",
        "posixpath",
        "readline",
        "json.decoder",
        "asyncio.runners",
        "unittest.case",
    ],
)
def test_programs_jokes_and_parts_of_packages_are_left_out(modules: dict[str, Entry], name: str):
    assert name not in modules


def test_no_entry_is_private(modules: dict[str, Entry], functions: dict[str, Entry]):
    for name in (*modules, *functions):
        assert not any(part.startswith("_") for part in name.split("."))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        # Written in Python, in a private base.
        ("argparse.ArgumentParser.add_argument", "add_argument(*args, **kwargs)"),
        ("asyncio.run", "run(main, debug"),  # documented under its package
        ("json.JSONDecoder.decode", "decode(s, _w)"),
        ("os.listdir", "listdir(path)"),  # written in C, under another name
        ("itertools.groupby", "groupby(iterable, key)"),
        ("builtins.str.join", "join(iterable)"),
    ],
)
def test_a_function_is_found_under_its_documented_name(
    functions: dict[str, Entry], name: str, parameters: str
):
    assert functions[name].text.startswith(parameters)


def test_the_text_of_a_module_holds_its_methods(modules: dict[str, Entry]):
    assert (
        "RawConfigParser.read raw config parser read(filenames, encoding)"
        in modules["configparser"].text
    )


def test_a_title_holds_the_words_of_the_name_and_the_first_sentence(modules: dict[str, Entry]):
    assert modules["argparse"].title == "argparse: Command-line parsing library"
    assert modules["xml.etree.ElementTree"].title.startswith(
        "xml.etree.ElementTree xml etree element tree: "
    )


def test_titles_are_one_line(modules: dict[str, Entry], functions: dict[str, Entry]):
    for entry in (*modules.values(), *functions.values()):
        assert not set(entry.title) & set("\n\r\t")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("ThreadPoolExecutor", "thread pool executor"),
        ("HTTPServer", "http server"),
        ("py_compile", "py compile"),
        ("base64.b64encode", "base64 b64 encode"),
        ("", ""),
    ],
)
def test_a_name_is_split_into_its_words(name: str, spelled: str):
    assert words(name) == spelled


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("One thing. Another thing.", "One thing."),
        ("Spread over\n   two lines.\n\nMore.", "Spread over two lines."),
        ("time(object)\n\nThe clock.", "The clock."),
        ("clock\n~~~~~\n\nTells the time.", "Tells the time."),
        ("For Python 3.11, e.g. this one", "For Python 3.11, e.g. this one"),
        ("clock", "clock"),
        ("", ""),
    ],
)
def test_the_first_sentence_passes_over_signatures_and_titles(doc: str, sentence: str):
    assert first_sentence(doc, "clock") == sentence


def test_reading_prints_nothing_and_runs_no_library_module_with_effects(tmp_path: Path):
    code = (
        "import sys; from rankwell.vectors.media import python_docs; python_docs.modules(); "
        "python_docs.functions(); "
        "loaded = {'antigravity', 'this', 'webbrowser', 'turtle', 'idlelib', 'readline', "
        "'test'} & set(sys.modules); "
        "assert not loaded, loaded"
    )

    assert run_python(code, tmp_path) == ""


def test_a_users_file_with_a_librarys_name_is_neither_run_nor_read(tmp_path: Path):
    for name in ("this", "sched", "cmath"):
        (tmp_path / f"{name}.py").write_text('"""Mine."""\nraise SystemExit("it ran")\n')
    code = (
        "from rankwell.vectors.media import python_docs; "
        "print([e.title for e in python_docs.modules() if e.id == 'sched'])"
    )

    assert "Mine" not in run_python(code, tmp_path)


def test_the_hooks_of_a_program_change_no_entry(tmp_path: Path):
    code = (
        "import sys; sys.unraisablehook = sys.displayhook = lambda *_: None; "
        "from rankwell.vectors.media import python_docs; "
        "sys.stdout.writelines(f'{e.id}\\n' for e in python_docs.functions())"
    )

    found = run_python(code, tmp_path).splitlines()

    assert {"sys.unraisablehook", "sys.displayhook"} <= set(found)


@pytest.mark.slow
def test_two_interpreters_with_other_hashes_read_the_same(tmp_path: Path):
    code = (
        "import hashlib; from rankwell.vectors.media import python_docs; "
        "print(hashlib.sha256(repr((python_docs.modules(), "
        "python_docs.functions())).encode()).hexdigest())"
    )

    digests = {run_python(code, tmp_path, PYTHONHASHSEED=seed) for seed in ("1", "2")}

    assert len(digests) == 1
    assert len(digests.pop().strip()) == 2 * hashlib.sha256().digest_size
