"""Bytes in and out: places to read from, local or remote, and files written whole or not at all."""

from rankwell.errors import naming
from rankwell.store.compression import refuse_bomb
from rankwell.store.drafts import (
    KEEPING,
    Cache,
    is_file_name,
    packing,
    refuse_blocked,
    refuse_file_name,
    replacing,
    scratch,
    utf8_path,
    write_bytes,
    write_text,
    writing_to,
)
from rankwell.store.heads import Head, first_bytes
from rankwell.store.places import (
    STDIN,
    Source,
    decode_id,
    encode_id,
    exists,
    file_states,
    refuse_irregular,
    remote_url,
    shard_files,
    sources_of,
    split_lines,
    split_part,
)
from rankwell.store.shards import SourceRange, line_starts, run_files

__all__ = [
    "KEEPING",
    "STDIN",
    "Cache",
    "Head",
    "Source",
    "SourceRange",
    "decode_id",
    "encode_id",
    "exists",
    "file_states",
    "first_bytes",
    "line_starts",
    "naming",
    "packing",
    "is_file_name",
    "refuse_blocked",
    "refuse_file_name",
    "refuse_bomb",
    "refuse_irregular",
    "remote_url",
    "replacing",
    "run_files",
    "scratch",
    "utf8_path",
    "shard_files",
    "sources_of",
    "split_lines",
    "split_part",
    "write_bytes",
    "write_text",
    "writing_to",
]
