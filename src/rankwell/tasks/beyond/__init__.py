"""Lists beyond accuracy: what the items that runs retrieve cover, and how novel, diverse,
calibrated and fair the lists are.
"""
