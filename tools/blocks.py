"""The blocks of code of a page of the documentation, and the reasons why some of them do not run.

Comments above a block: `<!-- not run: it needs a cluster -->` is about all of it, `<!-- not run
"--url": … -->` about its command lines with these words, and `<!-- run by tests/… -->` names the
test that runs it.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

BLOCK = re.compile(
    r'^((?:<!-- [^\n]* -->\n+)*)```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL
)
"""Comments, language, title and text of a block."""
SHELL = frozenset(("sh", "bash", "console"))
_REASON = re.compile(r'<!-- not run(?: "([^"]+)")?: (.+?) -->')
_ELSEWHERE = re.compile(r"<!-- run by (\S+) -->")


class Block(NamedTuple):
    """A block of code. title: the file that the reader writes, or "". reasons: why it is not run,
    by words; "" for all of it.
    """

    language: str
    title: str
    text: str
    line: int
    reasons: Mapping[str, str]
    elsewhere: str

    @property
    def commands(self) -> list[str]:
        """The command lines, each of one line; at a prompt those after `$`."""
        if self.language not in SHELL:
            return []
        lines = self.text.replace("\\\n", " ").splitlines()
        prompt = "$ " if self.language == "console" else ""
        return [
            line.removeprefix(prompt) for line in lines if line.strip() and line.startswith(prompt)
        ]

    def is_run(self, command: str = "") -> bool:
        """Whether a test that reads this page runs the block, or one of its command lines."""
        return not self.elsewhere and not any(words in command for words in self.reasons)


def read_blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return [
        Block(
            language,
            title,
            text,
            page.count("\n", 0, found.start(2)) + 1,
            dict(_REASON.findall(comments)),
            "".join(_ELSEWHERE.findall(comments)),
        )
        for found in BLOCK.finditer(page)
        for comments, language, title, text in [found.groups("")]
    ]


def unread(page: str) -> int:
    """The number of fences that belong to no block: one that is indented, open, or has another
    head.
    """
    return len(re.findall(r"^ *```", page, re.MULTILINE)) - 2 * len(read_blocks(page))
