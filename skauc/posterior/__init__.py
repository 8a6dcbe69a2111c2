"""Closed-form posteriors of the AUC."""
