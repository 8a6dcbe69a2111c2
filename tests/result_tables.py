"""Tables that the benchmarks wrote, read back."""

import csv


def read_table(path) -> list[dict]:
    """Rows of a csv below its stamp, as text."""
    with path.open(newline="") as file:
        next(file)  # the stamp
        return list(csv.DictReader(file))
