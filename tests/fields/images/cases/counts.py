"""How many models, tasks and parts the field declares."""

CASES = {"images": {"models": 2, "tasks": 1, "parts": 0}}
