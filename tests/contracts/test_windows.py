"""The contract of Windows: every module imports where those of Unix are missing."""

import subprocess
import sys

_IMPORTS = """
import builtins, importlib, pkgutil, sys, types

MISSING = {"fcntl", "grp", "pwd", "resource", "termios"}
import_module = builtins.__import__

def import_on_windows(name, variables=None, *arguments, **named):
    importer = (variables or {}).get("__name__") or ""
    if importer.partition(".")[0] == "rankwell":
        if name in MISSING:
            raise ModuleNotFoundError(f"{importer} imports {name}, which Windows does not have")
        if name == "msvcrt":
            return types.ModuleType(name)
    return import_module(name, variables, *arguments, **named)

builtins.__import__ = import_on_windows

import rankwell

for module in pkgutil.walk_packages(rankwell.__path__, "rankwell."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_every_module_imports_without_the_modules_of_unix():
    child = subprocess.run(
        [sys.executable, "-c", _IMPORTS], capture_output=True, text=True, check=False
    )

    assert child.returncode == 0, child.stderr
    assert "rankwell.tasks.images.task" in child.stdout.split()
