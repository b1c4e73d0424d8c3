"""Driving clips with keyword ground truth."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "Annotations": "rankwell.tasks.clips.annotations",
    "QueryKeywords": "rankwell.tasks.clips.annotations",
    "evaluate_clips": "rankwell.tasks.clips.evaluation",
    "read_annotations": "rankwell.tasks.clips.formats",
    "read_schema": "rankwell.tasks.clips.formats",
    "KeywordMapper": "rankwell.tasks.clips.mapping",
    "ClipOptions": "rankwell.tasks.clips.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(files=("by_group.csv", "by_keyword.csv", "keywords.csv", "sheets/*.png"))
