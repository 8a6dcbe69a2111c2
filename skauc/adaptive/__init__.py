"""The prior that is learnt from the data."""
