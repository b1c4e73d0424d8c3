"""Parts, and what computes them on one machine or many."""
