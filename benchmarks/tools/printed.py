"""A computed number beside a printed one."""

from __future__ import annotations


def number(part, quantity, computed, value, decimals, remark="", source="the lesson"):
    """One line of the table; agrees: equal to ``value`` when rounded like it."""
    close = abs(computed - value) <= 0.5 * 10.0**-decimals * (1 + 1e-9)
    return {
        "part": part,
        "quantity": quantity,
        "computed": f"{computed:.{decimals + 1}f}",
        "beside": f"{value:.{decimals}f}",
        "of": source,
        "agrees": "yes" if close else "no",
        "remark": remark,
    }


def within(value, expected, deviation):
    """Whether two numbers differ by three standard deviations at most."""
    return "yes" if abs(value - expected) <= 3 * deviation else "no"
