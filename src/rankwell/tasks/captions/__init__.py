"""Text-video retrieval from a matrix of scores or from embeddings."""
