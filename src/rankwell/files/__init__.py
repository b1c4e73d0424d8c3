"""Formats, one file each: bytes to tables and back. What a reader of any format may be asked for stands here."""
