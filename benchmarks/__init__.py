"""Scripts that measure the package; run them from the project root: ``python -m``."""
