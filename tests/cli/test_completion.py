"""The completion scripts, in the shells themselves: a line is typed, Tab is pressed, and what then
stands there is echoed.
"""

import os
import pty
import select
import shutil
import subprocess
import sys
import time

import pytest

from rankwell.cli import main

SETUP = {
    "bash": "bind 'set enable-bracketed-paste off'; source ./script",
    "zsh": "autoload -Uz compinit; compinit -u -D; source ./script; compdef _shtab_rankwell "
    "rankwell",
}
START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}

LINES = [
    ("rankwell evalu", "rankwell evaluate"),
    ("rankwell judge esti", "rankwell judge estimate"),
    ("rankwell evaluate --conv", "rankwell evaluate --convention"),
    ("rankwell evaluate --convention trec_eval1", "rankwell evaluate --convention trec_eval10"),
    ("rankwell evaluate --ties id-a", "rankwell evaluate --ties id-asc"),
    ("rankwell evaluate -m Judg", "rankwell evaluate -m Judged"),
    ("rankwell explain Judg", "rankwell explain Judged"),
    ("rankwell compare --test wilc", "rankwell compare --test wilcoxon"),
    ("rankwell evaluate qre", "rankwell evaluate qrels.txt"),
    ("rankwell evaluate --qui", "rankwell evaluate --quiet"),
    ("rankwell images mat", "rankwell images match"),
    ("rankwell qa qre", "rankwell qa qrels.txt"),
    ("rankwell qa qrels.txt --isol", "rankwell qa qrels.txt --isolated"),
    ("rankwell images match --cac", "rankwell images match --cache"),
    ("rankwell trec-eval qre", "rankwell trec-eval qrels.txt"),
]


@pytest.fixture
def script(tmp_path, monkeypatch, capsys):
    """Writes the script of a shell, beside a file that can be completed, and skips where there is
    no such shell.
    """

    def _write(shell):
        if shutil.which(shell) is None:
            if os.environ.get("RANKWELL_REQUIRE_ALL"):
                pytest.fail(f"{shell} is not installed")
            pytest.skip(f"{shell} is not installed")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["rankwell", "completion", shell])
        assert main() == 0
        (tmp_path / "qrels.txt").touch()
        (tmp_path / "script").write_text(capsys.readouterr().out)
        return tmp_path

    return _write


def typed(shell, lines, folder):
    """What each line has become after Tab, in an interactive shell on a terminal of its own."""
    leader, follower = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "TERM": "dumb",
        "HOME": str(folder),
        "PS1": "",
        "LC_ALL": "C.UTF-8",
    }
    process = subprocess.Popen(
        START[shell],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    os.close(follower)
    # Ctrl-A goes to the beginning of the line, where what is typed makes it an argument of echo.
    keys = [f"{line}\t\x01echo RESULT:\r" for line in lines]
    seen = ""
    try:
        for number, key in enumerate([f"{SETUP[shell]}; echo RESULT:ready\r", *keys]):
            os.write(
                leader, key.replace("RESULT:", "RES''ULT: " if number else "RES''ULT:").encode()
            )
            seen = _read(leader, seen, number + 1)
    finally:
        process.kill()
        process.wait()
        os.close(leader)
    return [part.splitlines()[0].strip() for part in seen.split("RESULT:")[2:]]


def _read(leader, seen, wanted):
    end = time.monotonic() + 60
    while seen.count("RESULT:") < wanted or not seen.rpartition("RESULT:")[2].count("\n"):
        ready, _, _ = select.select([leader], [], [], max(0, end - time.monotonic()))
        assert ready, f"the shell is silent after {seen[-400:]!r}"
        seen += os.read(leader, 65536).decode(errors="replace")
    return seen


@pytest.mark.skipif(sys.platform == "win32", reason="has no terminals of this kind")
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_tab_completes_in_bash_and_zsh(shell, script):
    folder = script(shell)

    assert typed(shell, [line for line, _ in LINES], folder) == [complete for _, complete in LINES]


def test_tab_completes_in_fish(script):
    folder = script("fish")
    asked = "; ".join(f"echo (complete -C '{line}')[1]" for line, _ in LINES)

    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source ./script; {asked}"],
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )

    found = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert [
        f"{line.rpartition(' ')[0]} {end}" for (line, _), end in zip(LINES, found, strict=True)
    ] == [full for _, full in LINES]


def test_a_shell_without_a_script_is_an_error_that_lists_those_with_one(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["rankwell", "completion", "csh"])

    assert main() == 2
    assert "bash, zsh, fish" in capsys.readouterr().err
