"""Estimates, intervals and tests of ``(y_true, y_score)``."""
