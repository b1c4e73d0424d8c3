"""Vectors: nearest neighbours, transforms, encoders, pictures and texts."""
