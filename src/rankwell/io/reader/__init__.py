"""The readers of run files and judgments: compiled, and the fallback."""
