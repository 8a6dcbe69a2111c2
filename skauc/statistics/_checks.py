"""Checks of single arguments.

An error names the argument, the rule and the value that was given, in this order; about
the values of a frame, the column, too.
"""

from contextlib import contextmanager
from numbers import Number, Real

import numpy as np

RANGE = 1e-70, 1e70  # sizes of features, scores and weights: fourth powers are numbers
# Parts of errors about values of X, here, of scikit-learn or of numpy (about dates)
_ABOUT_KINDS = "string to float", "must hold numbers", "could not be promoted"
_ABOUT_VALUES = "NaN", "infinity", "in feature", "must hold numbers", "must be finite"
_MISSING = "nan", "inf", "-inf", "None", "<NA>", "NaT"


def check_interval(name, value, low=-np.inf, high=np.inf, closed="both"):
    """Check that a real number lies in an interval, and return it as a float.

    Parameters
    ----------
    name : str
        What the argument is called in the error.
    value : object
        Booleans, texts and NaN are refused.
    low, high : float, default=-inf, inf
    closed : {"both", "left", "right", "neither"}, default="both"
        The ends that belong to the interval; an infinite end that does not belong to
        it means that the number must be finite.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the value is no real number, or lies outside the interval.
    """
    number = _real(value)
    if _inside(number, low, high, closed):
        return number
    rule = _rule_in_words(low, high, closed)
    raise ValueError(f"{name} must {rule}, got {short(value)}")


def check_integer(name, value, low=-(2**53), high=2**53) -> int:
    """Check a whole number in [low, high]; the float 1e4 is a whole number, too."""
    number = _real(value)
    if low <= number <= high and number == np.floor(number):
        return int(value)
    rule = f"from {low} to {high}"
    if high == 2**53:
        rule = "<= 2**53" if number > high else f">= {low}"
    raise ValueError(f"{name} must be a whole number {rule}, got {short(value)}")


def check_numbers(
    name, values, low=-np.inf, high=np.inf, closed="both", *, whole=False
):
    """Check that a number or an array of numbers lies in an interval.

    Parameters
    ----------
    name, low, high, closed
        As for :func:`check_interval`.
    values : float or array-like
    whole : bool, default=False
        Whether they must be whole numbers.

    Returns
    -------
    ndarray of float
    """
    numbers = as_numbers(name, values)
    inside = _inside(numbers, low, high, closed)
    odd = numbers[~inside | (whole & (numbers != np.floor(numbers)))]
    for number in odd.flat[:1].tolist():
        if whole:
            check_integer(name, number, low, high)
        check_interval(name, number, low, high, closed)
    return numbers


def check_level(name, value) -> float:
    """Check a number strictly between 0 and 1."""
    return check_interval(name, value, 0, 1, closed="neither")


def check_flag(name, value) -> bool:
    """Check True or False; the numbers 0 and 1 are refused."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {short(value)}")
    return bool(value)


def check_option(name, value, options):
    """Check that a string is one of the options."""
    if not isinstance(value, str) or value not in options:
        known = ", ".join(map(repr, options))
        raise ValueError(f"{name} must be one of {known}, got {short(value)}")
    return value


def refuse_ignored(where, **given):
    """Raise for options without effect that differ from their default values.

    ``where`` says in words where they have none, such as "for method='delong'"; each
    option is a pair of the given value and the default.
    """
    for name, (value, default) in given.items():
        simple = value is None or isinstance(value, Number | np.bool_ | str)
        if not simple or value != default:
            raise ValueError(
                f"{name} must not be given {where}, where it has no effect, got "
                f"{short(value)}"
            )


def generator(random_state) -> np.random.Generator:
    """Numpy Generator for a ``random_state``.

    Parameters
    ----------
    random_state : None, int, Generator or RandomState
        A RandomState seeds a new Generator by its next number.

    Returns
    -------
    numpy.random.Generator

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be None, a whole number >= 0, a Generator or a "
            f"RandomState, got {short(random_state)}"
        ) from None


def refuse_mask(name: str, value):
    """Raise for a masked array with masked values, which conversion would unmask."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"{name} must hold no masked values, got an array with "
            f"{np.ma.count_masked(value)} of them; drop their rows or fill them"
        )


def as_numbers(name: str, value) -> np.ndarray:
    """Convert to an array of float64; texts, complex numbers, ragged lists raise."""
    refuse_mask(name, value)
    try:
        array = np.asarray(value)
        texts = str, bytes, type(None)  # float() would take some of them
        odd = array.dtype.kind == "O" and any(isinstance(v, texts) for v in array.flat)
        if array.dtype.kind in "biufO" and not odd:
            return array.astype(float, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    flat = np.asarray(value, dtype=object).ravel().tolist()
    odd = (v for v in flat if not isinstance(v, Real) or v != v)
    raise ValueError(f"{name} must hold numbers, got {short(next(odd, type(value)))}")


def as_verbosity(value) -> int:
    """Convert to a whole number >= 0; True is 1."""
    is_flag = isinstance(value, bool | np.bool_)
    return check_integer("verbose", int(value) if is_flag else value, 0)


def check_weights(values, n) -> np.ndarray | None:
    """Check the weights of n rows: 0 or of ordinary size; None stays None."""
    if values is None:
        return None
    weight = one_a_row("sample_weight", as_numbers("sample_weight", values), n)
    least, most = RANGE
    good = (weight == 0) | ((weight >= least) & (weight <= most))
    rule = f"be 0 or between {least:g} and {most:g}"
    refuse_rows(~good, "sample_weight", rule, weight)
    return weight


def one_a_row(name, values, n):
    """Values of n rows; shape (n, 1) becomes (n,)."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n,):
        raise ValueError(
            f"{name} must have one value for each of the {n} rows, got shape "
            f"{values.shape}"
        )
    return values


def refuse_rows(bad, name, rule, values):
    """Raise if a row is bad, with the value of the first one."""
    for row in np.flatnonzero(bad)[:1]:
        raise ValueError(f"{name} must {rule}, got {values[row]} in row {row}")


def short(value) -> str:
    """Write a value on one line of at most 80 characters, for an error."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def _real(value) -> float:
    """Return a real number as a float, NaN for anything else."""
    value = value[()] if isinstance(value, np.ndarray) else value  # of shape ()
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return np.nan
    try:
        return float(value)
    except OverflowError:  # a whole number beyond floats
        return np.nan


def _inside(numbers, low, high, closed):
    """Return whether numbers lie in an interval; NaN lies in none."""
    above = numbers >= low if closed in ("both", "left") else numbers > low
    below = numbers <= high if closed in ("both", "right") else numbers < high
    return above & below


def _rule_in_words(low, high, closed):
    """Write ``lie in [0, 1)``, ``be finite and > 0`` or ``be >= 1``."""
    left, right = closed in ("both", "left"), closed in ("both", "right")
    if np.isfinite(low) and np.isfinite(high):
        return f"lie in {'[' if left else '('}{low:g}, {high:g}{']' if right else ')'}"
    is_finite = (np.isinf(low) and not left) or (np.isinf(high) and not right)
    rules = ["finite"] if is_finite else []
    rules += [f"{'>=' if left else '>'} {low:g}"] if np.isfinite(low) else []
    rules += [f"{'<=' if right else '<'} {high:g}"] if np.isfinite(high) else []
    return f"be {' and '.join(rules) or 'a number'}"


def is_collection(value) -> bool:
    """Whether the rows are in a collection such as Dask's; does not import it."""
    graph = getattr(type(value), "__dask_graph__", None)
    return graph is not None and value.__dask_graph__() is not None


@contextmanager
def columns_named(X):
    """Name the columns of a frame in an error about values that are no numbers."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = _odd_columns(X, str(error))
        if text is None:
            raise
        raise ValueError(text) from error


def _odd_columns(X, error):
    """Sentence about columns with values that are no numbers; None without them."""
    is_frame = hasattr(X, "columns") and not is_collection(X)
    if not is_frame and not (isinstance(X, np.ndarray) and X.dtype.kind == "O"):
        return None
    columns, missing = np.atleast_2d(np.asarray(X, dtype=object)).T, {}
    names = X.columns if is_frame else range(len(columns))
    for name, values in zip(names, columns, strict=True):
        odd = [v for v in values if not isinstance(v, Real) and str(v) not in _MISSING]
        for value in odd if any(part in error for part in _ABOUT_KINDS) else ():
            if repr(value) in error or not isinstance(value, str):
                return (
                    f"X must hold numbers, got {value!r} in column {name!r}; encode "
                    "the column, for example by OneHotEncoder in a ColumnTransformer"
                )
        if not odd:
            missing[name] = sum(str(v) in _MISSING for v in values)
    found = [f"{n} in column {name!r}" for name, n in missing.items() if n]
    if not found or not any(part in error for part in _ABOUT_VALUES):
        return None
    return (
        f"X must be finite, got missing or infinite values: {', '.join(found[:5])}; "
        "drop these rows or impute the values, for example by SimpleImputer"
    )
