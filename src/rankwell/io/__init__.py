"""Formats, one subject a file: bytes to tables and back. `files` reads and writes in any of them."""
