"""How many models, tasks and parts the field declares."""

CASES = {"cells": {"models": 0, "tasks": 0, "parts": 0}}
