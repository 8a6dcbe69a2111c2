"""What is kept of data: moments, ranks, shared numerics."""
