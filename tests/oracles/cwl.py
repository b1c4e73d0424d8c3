"""The C/W/L family, by the name of the file that has its measures; written down with the other user models."""

from oracles.user_models import BPM, INSQ, INST, NERR8, NERR9, NERR10, NERR11

__all__ = ["BPM", "INSQ", "INST", "NERR10", "NERR11", "NERR8", "NERR9"]
