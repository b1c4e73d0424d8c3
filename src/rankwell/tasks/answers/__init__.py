"""Question answering: retriever and reader."""
