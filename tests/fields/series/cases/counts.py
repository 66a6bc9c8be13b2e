"""How many models, tasks and parts the field declares."""

CASES = {"series": {"models": 1, "tasks": 2, "parts": 4}}
