"""How results are printed, one file per family of formats."""
