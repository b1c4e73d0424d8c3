"""The steps of the command line in Python: methods of results, and functions of files."""
