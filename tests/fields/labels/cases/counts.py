"""How many models, tasks and parts the field declares."""

CASES = {"labels": {"models": 1, "tasks": 0, "parts": 0}}
