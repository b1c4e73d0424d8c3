"""sentence-transformers' evaluators: import them from `rankwell.compat.sentence_transformers`, and
change nothing else.

Arguments, names of figures, primary metrics and CSV files are those of sentence-transformers 6, and
so are similarities, with its precision; the figures are rankwell's. On purpose, a similarity that
is not finite and arguments that contradict each other are errors with a sentence, a CSV of other
columns is left alone, and an evaluator that names no similarity takes each model's own.
"""

from rankwell.compat.st_evaluator import InformationRetrievalEvaluator, RerankingEvaluator
from rankwell.compat.st_pairs import (
    BinaryClassificationEvaluator,
    EmbeddingSimilarityEvaluator,
    TranslationEvaluator,
    TripletEvaluator,
)

__all__ = [
    "BinaryClassificationEvaluator",
    "EmbeddingSimilarityEvaluator",
    "InformationRetrievalEvaluator",
    "RerankingEvaluator",
    "TranslationEvaluator",
    "TripletEvaluator",
]
