"""Curves of score distributions: binormal, quadratic forms."""
