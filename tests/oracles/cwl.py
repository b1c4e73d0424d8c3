"""The C/W/L family, by the name of the file that has its measures; written down with the other user
models.
"""

from oracles.user_models import BPM, IFT, INSQ, INST, NERR8, NERR9, NERR10, NERR11, TBG

__all__ = ["BPM", "IFT", "INSQ", "INST", "NERR10", "NERR11", "NERR8", "NERR9", "TBG"]
