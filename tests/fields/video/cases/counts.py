"""How many models, tasks and parts the field declares."""

CASES = {"video": {"models": 1, "tasks": 1, "parts": 0}}
