"""A scorer: an object called as ``scorer(estimator, X, y) -> float``."""

from __future__ import annotations

import copy

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest


class Scorer:
    """Callable ``scorer(estimator, X, y_true, sample_weight=None) -> float``.

    Made by the ``make_…_scorer`` functions. It is an object because scikit-learn asks
    scorers about ``sample_weight`` and metadata routing.
    """

    def __init__(self, factory, score, params, *, shared=False):
        self._factory = factory
        self._score = score
        self._params = params
        self._shared = shared
        self._request = MetadataRequest(owner=self)
        # known but not requested: passing it then is scikit-learn's error
        self._request.score.add_request(param="sample_weight", alias=None)

    def __call__(self, estimator, X, y_true=None, sample_weight=None):
        """Score a fitted estimator on (X, y_true); greater is better.

        ``sample_weight`` counts rows; for cross-validation only ratios matter.
        """
        return self._score(
            estimator, X, y_true, sample_weight=sample_weight, **self._params
        )

    def __repr__(self):
        params = ", ".join(f"{k}={v!r}" for k, v in self._params.items())
        return f"{self._factory}({params})"

    def __eq__(self, other):
        if not isinstance(other, Scorer):
            return NotImplemented
        mine, theirs = (
            (one._factory, one._request.score.requests) for one in (self, other)
        )
        return mine == theirs and _equal(self._params, other._params)

    def __hash__(self):
        return hash(self._factory)  # parameters may be lists or splitters

    def _accept_sample_weight(self):
        return True

    def _routing_repr(self):
        return repr(self)

    def set_score_request(self, *, sample_weight):
        """Request ``sample_weight`` under metadata routing.

        Parameters
        ----------
        sample_weight : bool, str or None
            As for scikit-learn's scorers.

        Returns
        -------
        Scorer
            This scorer; a copy of a ready-made one such as ``cbauc_scorer``.
        """
        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "set_score_request needs metadata routing: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        target = self
        if self._shared:
            target = Scorer(self._factory, self._score, self._params)
        target._request.score.add_request(param="sample_weight", alias=sample_weight)
        return target

    def get_metadata_routing(self):
        """Metadata that this scorer requests."""
        return copy.deepcopy(self._request)


def _equal(a, b):
    """Whether two parameters are equal; splitters are compared by their attributes."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if type(a).__eq__ is object.__eq__ and hasattr(a, "__dict__"):
        return _equal(vars(a), vars(b))
    return bool(a == b)


def ready_made(scorer: Scorer) -> Scorer:
    """The same scorer; ``set_score_request`` makes a copy of it."""
    scorer._shared = True
    return scorer
