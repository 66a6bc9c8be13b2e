"""Codes of shards, one file each, made by workers."""
