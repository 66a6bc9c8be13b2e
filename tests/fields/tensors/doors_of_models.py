"""A model of tensors whose methods get one argument after another."""

CASES = {"OnlineCPDictionary": ({}, lambda method: {})}
