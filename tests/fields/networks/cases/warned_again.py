"""Warnings of networks that are issued again as they came."""

CASES = {"message.message": "rebuilding"}
