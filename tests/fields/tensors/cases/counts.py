"""How many models, tasks and parts the field declares."""

CASES = {"tensors": {"models": 1, "tasks": 1, "parts": 1}}
