"""Public names of logged data: every line puts one into `rankwell`, which loads it on first use."""

from rankwell.tasks.logs.evaluation import evaluate_logs as evaluate_logs
from rankwell.tasks.logs.interleaving import InterleavingOptions as InterleavingOptions
from rankwell.tasks.logs.interleaving import interleave as interleave
from rankwell.tasks.logs.options import LogOptions as LogOptions
from rankwell.tasks.logs.preference import InterleavingTestOptions as InterleavingTestOptions
from rankwell.tasks.logs.preference import evaluate_interleaving as evaluate_interleaving
