"""Kernels: inner loops, in NumPy and in C where the install could compile it; both give the same to
the last bit.
"""
