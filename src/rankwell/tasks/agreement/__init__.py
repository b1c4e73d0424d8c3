"""Agreement of the neighbours of one embedding model with those of another."""
