"""Classifiers with a ROC curve or inference."""
