"""Command lines of retrieval for generation: chunks against gold passages, contexts by similarity,
and citations.
"""

from pathlib import Path

from tasks.rag import smallest

SPANS = "-m SpanP -m SpanR@1 -m SpanIoU -m SpanP(unit='words')@2"
TEXTS = "-m ContextP(similarity='words') -m ContextR(similarity='words',threshold=0.6)"
CASES = {
    "rag/plain": "rag rag/gold.jsonl rag/bm25.jsonl",
    "rag/two-folder": "rag rag/gold.jsonl rag/bm25.jsonl rag/sentences.jsonl --documents "
    "rag/documents.jsonl -o "
    "out --overwrite",
    "rag/words": f"rag rag/gold.jsonl rag/bm25.jsonl --documents rag/documents.jsonl {SPANS} -q "
    "--intervals none",
    "rag/chunks": "rag rag/gold.jsonl rag/bm25.jsonl --chunks rag/chunks.jsonl -k 2 --seed 3 "
    "-f json",
    "rag/chunking_evaluation": "rag rag/gold.jsonl rag/bm25.jsonl -c chunking_evaluation "
    "--chunks rag/chunks.jsonl -q",
    "rag/chunking-all": "rag rag/gold.jsonl rag/bm25.jsonl --convention chunking_evaluation -m "
    "precision -m "
    "recall -m iou --chunks rag/chunks.jsonl",
    "rag/chunking-no-chunks": "rag rag/gold.jsonl rag/bm25.jsonl -c chunking_evaluation -m "
    "precision",
    "rag/ragas": "rag rag/contexts.jsonl rag/contexts.jsonl -c ragas -q",
    "rag/similarity": f"rag rag/contexts.jsonl rag/contexts.jsonl {TEXTS} --measure ContextP@1 "
    "-f md",
    "rag/no-positions": "rag rag/contexts.jsonl rag/contexts.jsonl -m SpanP",
    "rag/k-unused": "rag rag/gold.jsonl rag/bm25.jsonl -m SpanP@2 -k 3",
    "rag/citations": "rag citations rag/supports.jsonl -q",
    "rag/citations-alce": "rag citations rag/supports.jsonl -c alce --intervals none --seed 4 "
    "-f csv",
    "rag/citations-folder": "rag citations rag/supports.jsonl -m CitationP -o out --overwrite "
    "--per-query --format "
    "json",
    "rag/citations-options": "rag citations rag/supports.jsonl --measure CitationR "
    "--convention alce --format json "
    "--output out",
    "rag/options": "rag rag/gold.jsonl rag/bm25.jsonl --per-query --format json --output out "
    "--intervals t",
}


def write(folder: Path) -> None:
    """The inputs of the smallest command, and those of the other measures."""
    (folder / "rag").mkdir()
    smallest.write(folder / "rag")
