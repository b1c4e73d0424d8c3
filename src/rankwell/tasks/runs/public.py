"""Public names of runs against judgments: every line puts one into `rankwell`, which loads it on
first use.
"""

from rankwell.tasks.runs.evaluation import evaluate as evaluate
from rankwell.tasks.runs.options import RunOptions as RunOptions
