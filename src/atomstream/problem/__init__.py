"""What is given and what is minimised: batches, their clock, the objective, its products."""
