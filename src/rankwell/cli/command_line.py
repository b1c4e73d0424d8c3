"""The command that a command line names."""

from collections.abc import Sequence

from rankwell.data.catalogue import (
    DROP_IN,
    HELP,
    Words,
    command_summaries,
    everyday_meaning,
    subcommands,
    suggest,
)
from rankwell.errors import BadUsage


def find_command(arguments: Sequence[str]) -> Words:
    """The words of a command line that name a command, the longer one of two; for help also a
    group, or none. Raises BadUsage.
    """
    summaries = command_summaries()
    for length in (2, 1):
        if tuple(arguments[:length]) in summaries:
            return tuple(arguments[:length])
    words = tuple(word for word in arguments[:1] if subcommands(word))
    if HELP.issuperset(arguments[len(words) :]):
        return words
    wrong = arguments[len(words)]
    if not words and wrong.startswith("-"):
        raise BadUsage(
            f"there is no option {wrong} before a command; a command's options follow it."
        )
    near = {
        words[0] for words in (subcommands(words[0]) if words else {**summaries, (DROP_IN,): ""})
    }
    advice = suggest(wrong, near)
    word, is_near = "" if words else wrong, advice[0] == "k"
    meaning = everyday_meaning("commands", word, is_near=is_near)
    if not meaning:
        # Only a misspelt command needs the measures.
        from rankwell.data.registry import everyday_measure

        measure = everyday_measure(word, is_near=is_near)
        if measure:
            meaning = f"'evaluate QRELS RUN -m {measure}' or 'explain {measure}'"
    if meaning:
        advice = f"did you mean {meaning}?"
    raise BadUsage(f"there is no command {' '.join([*words, wrong])!r}; {advice}")
