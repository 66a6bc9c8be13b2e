"""What is not about learning: checks, matrices, threads, memory, parameters, saved fields."""
