"""The differences from the goldens that are meant, each with its reason; everything else that
differs fails.

Write an entry for each: `Rewritten` where lines read otherwise, `Added` and `Dropped` for lines,
`Near` for numbers that may
be off by a little, `Anew` for cases that mean something else now (`python tools/goldens.py write
--anew PATTERN`).
"""

from regression.comparing import Change

PERMITTED: tuple[Change, ...] = ()
