"""Public names that belong to no task: every line puts one into `rankwell`, which loads it on first use."""

from rankwell.core.registry import Measure as Measure
from rankwell.core.registry import parse_measure as parse_measure
from rankwell.core.tables.judgments import Judgments as Judgments
from rankwell.core.tables.ranking import Ranking as Ranking
from rankwell.core.tables.values import Values as Values
from rankwell.core.views.judged import JudgedRankings as JudgedRankings
from rankwell.evaluation.results import Results as Results
from rankwell.experiments.comparison import compare_values as compare_values
from rankwell.experiments.fusion import TunedFusion as TunedFusion
from rankwell.experiments.fusion import fuse as fuse
from rankwell.experiments.fusion import tune_fusion as tune_fusion
from rankwell.experiments.runner.results import BenchResults as BenchResults
from rankwell.experiments.runner.results import bench as bench
from rankwell.io import find_hits as find_hits
from rankwell.io import read_judgments as read_judgments
from rankwell.io import read_ranking as read_ranking
from rankwell.io import write_judgments as write_judgments
from rankwell.io import write_run as write_run
from rankwell.io.mapping import group_rankings as group_rankings
from rankwell.io.mapping import intent_rankings as intent_rankings
from rankwell.io.mapping import judged_rankings as judged_rankings
from rankwell.io.mapping import preference_rankings as preference_rankings
from rankwell.io.mapping import ranking_pairs as ranking_pairs
