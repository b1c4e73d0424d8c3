"""Work on files, as functions: check, convert, encode, explain, search, write."""
