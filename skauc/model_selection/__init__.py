"""Functions and scorers of ``(estimator, X, y)``."""
