"""Public names of search over annotated clips: every line puts one into `rankwell`, which loads it
on first use.
"""

from rankwell.tasks.clips.annotations import Annotations as Annotations
from rankwell.tasks.clips.annotations import QueryKeywords as QueryKeywords
from rankwell.tasks.clips.evaluation import evaluate_clips as evaluate_clips
from rankwell.tasks.clips.formats import read_annotations as read_annotations
from rankwell.tasks.clips.formats import read_schema as read_schema
from rankwell.tasks.clips.mapping import KeywordMapper as KeywordMapper
from rankwell.tasks.clips.options import ClipOptions as ClipOptions
