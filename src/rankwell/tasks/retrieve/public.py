"""Public names of live engines: every line puts one into `rankwell`, which loads it on first
use.
"""

from rankwell.tasks.retrieve.evaluation import retrieve as retrieve
from rankwell.tasks.retrieve.options import RetrieveOptions as RetrieveOptions
