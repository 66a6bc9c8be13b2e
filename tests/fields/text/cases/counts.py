"""How many models, tasks and parts the field declares."""

CASES = {"text": {"models": 1, "tasks": 1, "parts": 1}}
