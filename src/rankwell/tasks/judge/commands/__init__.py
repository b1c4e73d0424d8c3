"""Commands of studies, one per file."""
