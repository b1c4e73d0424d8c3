"""rankwell measures how well anything retrieves. The public names, in the order of the pipeline, each loaded on first use."""

# `typing` itself takes a tenth of what `rankwell --version` does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankwell.core.registry import Measure, parse_measure
    from rankwell.core.tables.judgments import Judgments
    from rankwell.core.tables.ranking import Ranking
    from rankwell.core.tables.values import Values
    from rankwell.core.views.judged import JudgedRankings
    from rankwell.evaluation.results import Results
    from rankwell.experiments.comparison import compare_values
    from rankwell.experiments.fusion import TunedFusion, fuse, tune_fusion
    from rankwell.experiments.runner.results import BenchResults, bench
    from rankwell.io import find_hits, read_judgments, read_ranking, write_judgments, write_run
    from rankwell.io.mapping import group_rankings, intent_rankings, judged_rankings, preference_rankings, ranking_pairs
    from rankwell.tasks.agreement.evaluation import agree
    from rankwell.tasks.agreement.lists import compare_lists
    from rankwell.tasks.agreement.results import Agreement
    from rankwell.tasks.answers.evaluation import AnswerResults, evaluate_answers
    from rankwell.tasks.answers.formats import read_predictions, read_questions
    from rankwell.tasks.answers.questions import Predictions, Questions
    from rankwell.tasks.captions.evaluation import captions
    from rankwell.tasks.captions.hgr import eval_q2m
    from rankwell.tasks.clips.annotations import Annotations
    from rankwell.tasks.clips.evaluation import evaluate_clips
    from rankwell.tasks.clips.formats.annotations import read_annotations
    from rankwell.tasks.clips.formats.keyword_schema import read_schema
    from rankwell.tasks.clips.mapping import KeywordMapper
    from rankwell.tasks.instances.evaluation import InstanceResults, evaluate_instances
    from rankwell.tasks.instances.formats import read_images
    from rankwell.tasks.instances.images import Images
    from rankwell.tasks.runs.evaluation import evaluate

__version__ = "0.1.0"

_HOME = {
    "read_judgments": "rankwell.io",
    "read_ranking": "rankwell.io",
    "read_annotations": "rankwell.tasks.clips.formats.annotations",
    "read_schema": "rankwell.tasks.clips.formats.keyword_schema",
    "KeywordMapper": "rankwell.tasks.clips.mapping",
    "Judgments": "rankwell.core.tables.judgments",
    "Annotations": "rankwell.tasks.clips.annotations",
    "read_questions": "rankwell.tasks.answers.formats",
    "read_predictions": "rankwell.tasks.answers.formats",
    "Questions": "rankwell.tasks.answers.questions",
    "Predictions": "rankwell.tasks.answers.questions",
    "Ranking": "rankwell.core.tables.ranking",
    "find_hits": "rankwell.io",
    "judged_rankings": "rankwell.io.mapping",
    "group_rankings": "rankwell.io.mapping",
    "intent_rankings": "rankwell.io.mapping",
    "preference_rankings": "rankwell.io.mapping",
    "ranking_pairs": "rankwell.io.mapping",
    "JudgedRankings": "rankwell.core.views.judged",
    "Measure": "rankwell.core.registry",
    "parse_measure": "rankwell.core.registry",
    "evaluate": "rankwell.tasks.runs.evaluation",
    "compare_lists": "rankwell.tasks.agreement.lists",
    "Results": "rankwell.evaluation.results",
    "agree": "rankwell.tasks.agreement.evaluation",
    "Agreement": "rankwell.tasks.agreement.results",
    "evaluate_answers": "rankwell.tasks.answers.evaluation",
    "AnswerResults": "rankwell.tasks.answers.evaluation",
    "evaluate_clips": "rankwell.tasks.clips.evaluation",
    "captions": "rankwell.tasks.captions.evaluation",
    "compare_values": "rankwell.experiments.comparison",
    "bench": "rankwell.experiments.runner.results",
    "BenchResults": "rankwell.experiments.runner.results",
    "eval_q2m": "rankwell.tasks.captions.hgr",
    "read_images": "rankwell.tasks.instances.formats",
    "Images": "rankwell.tasks.instances.images",
    "evaluate_instances": "rankwell.tasks.instances.evaluation",
    "InstanceResults": "rankwell.tasks.instances.evaluation",
    "fuse": "rankwell.experiments.fusion",
    "tune_fusion": "rankwell.experiments.fusion",
    "TunedFusion": "rankwell.experiments.fusion",
    "Values": "rankwell.core.tables.values",
    "write_run": "rankwell.io",
    "write_judgments": "rankwell.io",
}
__all__ = [
    "Images",
    "InstanceResults",
    "Agreement",
    "AnswerResults",
    "Annotations",
    "BenchResults",
    "Results",
    "JudgedRankings",
    "Judgments",
    "KeywordMapper",
    "Measure",
    "Predictions",
    "Questions",
    "Ranking",
    "TunedFusion",
    "Values",
    "__version__",
    "compare_lists",
    "compare_values",
    "agree",
    "bench",
    "captions",
    "eval_q2m",
    "evaluate",
    "evaluate_answers",
    "evaluate_clips",
    "evaluate_instances",
    "find_hits",
    "fuse",
    "group_rankings",
    "intent_rankings",
    "judged_rankings",
    "parse_measure",
    "preference_rankings",
    "ranking_pairs",
    "read_annotations",
    "read_images",
    "read_judgments",
    "read_predictions",
    "read_questions",
    "read_ranking",
    "read_schema",
    "tune_fusion",
    "write_judgments",
    "write_run",
]


_RENAMED = dict.fromkeys(("Captions", "ClipResults", "Comparison", "Evaluation"), "Results")


def __getattr__(name: str) -> "Any":
    if name in _RENAMED:
        import warnings

        warnings.warn(f"rankwell.{name} is now rankwell.{_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name not in _HOME:
        raise AttributeError(f"module 'rankwell' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
