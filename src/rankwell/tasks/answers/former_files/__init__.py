"""Files of earlier versions that became experiment files."""
