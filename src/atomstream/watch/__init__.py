"""What is kept along a stream beside the history, and what is made of it."""
