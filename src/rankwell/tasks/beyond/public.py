"""Public names of measures beyond accuracy: every line puts one into `rankwell`, which loads it on
first use.
"""

from rankwell.tasks.beyond.evaluation import evaluate_beyond as evaluate_beyond
from rankwell.tasks.beyond.options import BeyondOptions as BeyondOptions
