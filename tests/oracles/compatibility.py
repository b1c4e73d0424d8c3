"""Compatibility, by the name of the file that has its measure; written down with the other user
models.
"""

from oracles.user_models import Compat

__all__ = ["Compat"]
