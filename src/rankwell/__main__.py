"""`python -m rankwell` is the command line."""

import sys

from rankwell.cli import main

sys.exit(main())
