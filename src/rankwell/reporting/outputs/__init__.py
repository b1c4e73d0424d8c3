"""Output formats of results, one file per family."""
