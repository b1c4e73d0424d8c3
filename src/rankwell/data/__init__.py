"""The core: ids and their order, tables, views, the registries, and what results can show of
themselves.
"""
