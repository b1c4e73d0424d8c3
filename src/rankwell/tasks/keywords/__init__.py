"""Driving clips with keyword ground truth."""

from rankwell.data.catalogue import ResultKind

PUBLIC_NAMES = {
    "Annotations": "rankwell.tasks.keywords.annotations",
    "Schema": "rankwell.tasks.keywords.annotations",
    "QueryKeywords": "rankwell.tasks.keywords.annotations",
    "evaluate_keywords": "rankwell.tasks.keywords.evaluation",
    "read_annotations": "rankwell.tasks.keywords.formats",
    "read_schema": "rankwell.tasks.keywords.formats",
    "KeywordMapper": "rankwell.tasks.keywords.mapping",
    "KeywordOptions": "rankwell.tasks.keywords.options",
}
"""The names that the task adds to `rankwell`, each with the module that defines it."""

RESULTS = ResultKind(
    leads_deepest=True, files=("by_group.csv", "by_keyword.csv", "keywords.csv", "sheets/*.png")
)
