"""`python -m rankwell` is the command line."""

from rankwell.cli import script

script()
