"""Public names of retrieval for generation: every line puts one into `rankwell`, which loads it on
first use.
"""

from rankwell.tasks.rag.task import RagOptions as RagOptions
from rankwell.tasks.rag.task import evaluate_citations as evaluate_citations
from rankwell.tasks.rag.task import evaluate_rag as evaluate_rag
