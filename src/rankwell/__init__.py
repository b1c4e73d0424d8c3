"""rankwell measures how well anything retrieves. The public names, in the order of the pipeline, each loaded on first use."""

# `typing` itself takes a tenth of what `rankwell --version` does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankwell.compat.hgr import eval_q2m
    from rankwell.evaluation.agreement import agree
    from rankwell.evaluation.agreement.results import Agreement
    from rankwell.evaluation.answers import AnswerResults, evaluate_answers
    from rankwell.evaluation.captions import Captions, captions
    from rankwell.evaluation.clips import ClipResults, evaluate_clips
    from rankwell.evaluation.comparison import Comparison, compare_values
    from rankwell.evaluation.fusion import TunedFusion, fuse, tune_fusion
    from rankwell.evaluation.instances import InstanceResults, evaluate_instances
    from rankwell.evaluation.lists import compare_lists
    from rankwell.evaluation.runs import Evaluation, evaluate
    from rankwell.files import find_hits, read_judgments, read_ranking, write_judgments, write_run
    from rankwell.files.annotations import read_annotations
    from rankwell.files.answers import read_predictions, read_questions
    from rankwell.files.image_sets import read_images
    from rankwell.files.keyword_schema import read_schema
    from rankwell.files.mapping import group_rankings, intent_rankings, judged_rankings, preference_rankings, ranking_pairs
    from rankwell.protocols.cells import BenchResults, bench
    from rankwell.registry import Measure, parse_measure
    from rankwell.tables.annotations import Annotations
    from rankwell.tables.answers import Predictions, Questions
    from rankwell.tables.images import Images
    from rankwell.tables.judgments import Judgments
    from rankwell.tables.ranking import Ranking
    from rankwell.tables.values import Values
    from rankwell.truth.keyword_mapping import KeywordMapper
    from rankwell.views.judged import JudgedRankings

__version__ = "0.1.0"

_HOME = {
    "read_judgments": "rankwell.files",
    "read_ranking": "rankwell.files",
    "read_annotations": "rankwell.files.annotations",
    "read_schema": "rankwell.files.keyword_schema",
    "KeywordMapper": "rankwell.truth.keyword_mapping",
    "Judgments": "rankwell.tables.judgments",
    "Annotations": "rankwell.tables.annotations",
    "read_questions": "rankwell.files.answers",
    "read_predictions": "rankwell.files.answers",
    "Questions": "rankwell.tables.answers",
    "Predictions": "rankwell.tables.answers",
    "Ranking": "rankwell.tables.ranking",
    "find_hits": "rankwell.files",
    "judged_rankings": "rankwell.files.mapping",
    "group_rankings": "rankwell.files.mapping",
    "intent_rankings": "rankwell.files.mapping",
    "preference_rankings": "rankwell.files.mapping",
    "ranking_pairs": "rankwell.files.mapping",
    "JudgedRankings": "rankwell.views.judged",
    "Measure": "rankwell.registry",
    "parse_measure": "rankwell.registry",
    "evaluate": "rankwell.evaluation.runs",
    "compare_lists": "rankwell.evaluation.lists",
    "Evaluation": "rankwell.evaluation.runs",
    "agree": "rankwell.evaluation.agreement",
    "Agreement": "rankwell.evaluation.agreement.results",
    "evaluate_answers": "rankwell.evaluation.answers",
    "AnswerResults": "rankwell.evaluation.answers",
    "evaluate_clips": "rankwell.evaluation.clips",
    "ClipResults": "rankwell.evaluation.clips",
    "captions": "rankwell.evaluation.captions",
    "Captions": "rankwell.evaluation.captions",
    "compare_values": "rankwell.evaluation.comparison",
    "bench": "rankwell.protocols.cells",
    "BenchResults": "rankwell.protocols.cells",
    "Comparison": "rankwell.evaluation.comparison",
    "eval_q2m": "rankwell.compat.hgr",
    "read_images": "rankwell.files.image_sets",
    "Images": "rankwell.tables.images",
    "evaluate_instances": "rankwell.evaluation.instances",
    "InstanceResults": "rankwell.evaluation.instances",
    "fuse": "rankwell.evaluation.fusion",
    "tune_fusion": "rankwell.evaluation.fusion",
    "TunedFusion": "rankwell.evaluation.fusion",
    "Values": "rankwell.tables.values",
    "write_run": "rankwell.files",
    "write_judgments": "rankwell.files",
}
__all__ = [
    "Images",
    "InstanceResults",
    "Agreement",
    "AnswerResults",
    "Annotations",
    "BenchResults",
    "ClipResults",
    "Comparison",
    "Captions",
    "Evaluation",
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


def __getattr__(name: str) -> "Any":
    if name not in _HOME:
        raise AttributeError(f"module 'rankwell' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
