"""How many models, tasks and parts the field declares."""

CASES = {"sources": {"models": 0, "tasks": 1, "parts": 0}}
