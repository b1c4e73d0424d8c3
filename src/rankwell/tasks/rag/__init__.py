"""Retrieval for generation: retrieved chunks against gold passages, and citations against given
supports, without a model.
"""
