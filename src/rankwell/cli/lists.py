"""Lists on a command line: `-k 1 3 5` and `-m P@10 AP` are read as `-k 1,3,5` and `-m P@10 -m AP`.

A word after the first belongs to the list where it is a whole number (`-k`) or names a measure
(`-m`), and no file has its name; so a list never takes a file. Commas leave no doubt.
"""

import re
from collections.abc import Sequence
from typing import Any

from rankwell.data.options import arguments_of, candidate_paths


def with_lists(function: Any, words: Sequence[str]) -> list[str]:
    """The words of a command, with every list of cut-offs as one word, and every measure with an
    option of its own.
    """
    flags = {
        flag: argument
        for argument in arguments_of(function)
        if argument.kind is str and not argument.choices and {"-k", "-m"} & {*argument.flags}
        for flag in argument.flags
    }
    new_words, option, is_value = list[str](), "", False
    for word in words:
        flag = next((flag for flag in flags if word == flag), "")
        joined = next(
            (flag for flag in flags if word.startswith(f"{flag}=" if flag[1] == "-" else flag)), ""
        )
        if flag or joined:
            option, is_value = flag or joined, bool(flag)
        elif is_value:
            is_value = False
        elif option and _belongs(flags[option].flags, word):
            if flags[option].form == "one":
                new_words[-1] += f",{word}"
                continue
            new_words.append(option)
        else:
            option = ""
        new_words.append(word)
    return new_words


def _belongs(flags: Sequence[str], word: str) -> bool:
    """Whether a word that follows a value of an option is a further one."""
    if word.startswith("-"):
        return False
    if "-m" in flags and ".py:" in word:
        return True
    if any(path.exists() for path in candidate_paths(word)):
        return False
    return bool(re.fullmatch(r"[\d,]+", word)) if "-k" in flags else _names_measures(word)


def _names_measures(text: str) -> bool:
    """Whether a text names measures by a word of rankwell or of a convention, or ends in a cut-off
    as a misspelt one does.
    """
    from rankwell.data.registry import split_names
    from rankwell.errors import BadUsage
    from rankwell.files.explanations import meanings

    if re.search(r"[/\\]|://", text):
        return False
    for name in split_names(text):
        if not re.fullmatch(r"[^@]+@\d+", name):
            try:
                meanings(name)
            except BadUsage:
                return False
    return True
