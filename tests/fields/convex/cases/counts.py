"""How many models, tasks and parts the field declares."""

CASES = {"convex": {"models": 1, "tasks": 0, "parts": 0}}
