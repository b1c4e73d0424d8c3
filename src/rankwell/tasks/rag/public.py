"""Public names of retrieval for generation: every line puts one into `rankwell`, which loads it on
first use.
"""

from rankwell.tasks.rag.evaluation import evaluate_citations as evaluate_citations
from rankwell.tasks.rag.evaluation import evaluate_rag as evaluate_rag
from rankwell.tasks.rag.options import RagOptions as RagOptions
