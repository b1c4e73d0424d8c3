"""Views: the joins that measures read. A view holds all that a measure may look at, and leaves it
no rule to decide.
"""
