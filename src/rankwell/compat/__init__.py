"""Drop-ins: other tools' interfaces on rankwell's measures, so that a script or an import line
changes in one word.
"""
