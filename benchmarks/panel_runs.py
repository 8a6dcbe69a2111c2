"""Runs of the panel: truth, cross-validation and bootstrap, computed once and kept.

``build(key)`` computes one run and writes ``<cache>/<group>/<family>/<seed>.npz``;
``load_run`` reads it back as :class:`Run`, which regenerates the rows from the key and
refits the candidates when asked (both are deterministic and cheap). None of it depends
on this package.
"""

from __future__ import annotations

import json
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter

import numpy as np
import sklearn
from panel_auc import auc, plus_632
from panel_families import FAMILIES, Family, coefficients
from problem import Problem
from problems import GROUPS, make
from problems_real import REAL
from sklearn.model_selection import RepeatedStratifiedKFold

REPEATS, BOOTSTRAPS = 10, 20
HELD_OUT_FAMILIES = ("l2", "hinge", "kbest")
REPORT = 1000  # seeds from here on are for the report: nothing is chosen on them


@dataclass(frozen=True)
class Key:
    """Name of a run, where the real sets lie and where its figures are kept."""

    group: str
    family: str
    seed: int
    cache: Path
    data_dir: Path | None = None

    @property
    def path(self):
        """The file of its figures."""
        folder = self.cache / self.group.replace(" ", "_") / self.family
        return folder / f"{self.seed}.npz"

    def make(self) -> Problem | None:
        """The problem, drawn again."""
        return make(self.group, self.family, self.seed, self.data_dir)


def repeats_of(key, P):
    """How often 5-fold CV is repeated: 10 for l2, a share of the others, else 1."""
    if key.family == "l2":
        return REPEATS
    if key.family in ("kbest", "l1"):  # beside refits=
        every = 4 if P > 2000 and key.family == "l1" else 2
        return REPEATS if key.seed % every == 0 else 1
    return REPEATS if key.seed % 8 == 0 else 1


def cells(groups=GROUPS, families=FAMILIES):
    """Pairs of group and family that exist."""
    return [
        (group, family)
        for group in groups
        for family in families
        if (group != "held-out rows" or family in HELD_OUT_FAMILIES)
        and (group != REAL[3] or family != "lda_auto")
    ]


@dataclass(frozen=True, eq=False)
class Run:
    """One problem, one family of candidates (m of them), and what refits say.

    Attributes
    ----------
    X, y : the rows an estimator is asked about; ``rows`` says whether they trained it
    truth, truth_variance : (m,) of the candidates fitted on the training rows
    base : dict of arrays: ``truth, truth_variance, resubstitution`` (m,), ``folds``
        (5 r, m), ``oob`` (20, m)
    """

    key: Key
    base: dict
    meta: dict

    @property
    def group(self):
        """Group of the panel."""
        return self.key.group

    @property
    def rows(self):
        """Whether X, y trained the models."""
        return "held-out" if self.group == "held-out rows" else "training"

    @property
    def truth(self):
        """True AUC of each candidate."""
        return self.base["truth"]

    @property
    def truth_variance(self):
        """Variance with which it is known (0: exactly)."""
        return self.base["truth_variance"]

    @property
    def folds(self):
        """AUCs of the first repetition of 5-fold CV, (5, m)."""
        return self.base["folds"][:5]

    @property
    def plus_632(self):
        """.632+ bootstrap of the whole Pipeline."""
        return plus_632(self.base["resubstitution"], self.base["oob"].mean(axis=0))

    @cached_property
    def problem(self) -> Problem:
        """The rows, drawn again."""
        return self.key.make()

    @property
    def X(self):  # noqa: N802
        """Rows asked about."""
        return self.problem.X

    @property
    def y(self):
        """Mask of their positives."""
        return self.problem.y

    @cached_property
    def family(self):
        """The grid."""
        X, _ = _training(self.problem)
        return Family(self.key.family, *X.shape, self.key.seed)

    @cached_property
    def models(self):
        """The fitted Pipelines."""
        return fit(self.family, *_training(self.problem))


def fit(family, X, y):
    """Candidates fitted on all training rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is a subject of the panel
        return [model.fit(X, y) for model in family.candidates()]


def build(key) -> bool:
    """Compute a run and keep it; False where the cell does not exist."""
    problem = key.make()
    if problem is None:
        return False
    clock = {}
    X, y = _training(problem)
    family = Family(key.family, *X.shape, key.seed)
    with _timed(clock, "fit"):
        models = fit(family, X, y)
    W = np.array([coefficients(model) for model in models]).T
    with _timed(clock, "truth"):
        truth, variance = problem.truth(W)
    out = {"truth": truth, "truth_variance": variance}
    scores = np.array([model.decision_function(problem.X) for model in models])
    out["resubstitution"] = auc(problem.y, scores)  # of held-out rows: the empirical
    if problem.X_train is None:
        with _timed(clock, "cv"):
            repeats = repeats_of(key, X.shape[1])
            out["folds"] = _cross_validation(family, X, y, key.seed, repeats)
        with _timed(clock, "bootstrap"):
            out["oob"] = _bootstrap(family, X, y, key.seed)
    meta = {
        "cluster": problem.cluster,
        "n": len(problem.y),
        "P": X.shape[1],
        "positives": int(problem.y.sum()),
        "grid": [str(value) for value in family.grid],
        "design": problem.design,
        "seconds": {name: round(value, 4) for name, value in clock.items()},
        "sklearn": sklearn.__version__,
    }
    key.path.parent.mkdir(parents=True, exist_ok=True)
    draft = key.path.with_suffix(".part")
    with draft.open("wb") as file:
        np.savez_compressed(file, meta=json.dumps(meta), **out)
    draft.rename(key.path)
    return True


def load_run(key) -> Run:
    """One run from the cache."""
    with np.load(key.path) as file:
        base = {name: file[name] for name in file.files if name != "meta"}
        return Run(key, base, json.loads(str(file["meta"])))


def _training(problem):
    if problem.X_train is None:
        return problem.X, problem.y
    return problem.X_train, problem.y_train


def _cross_validation(family, X, y, seed, repeats):
    """AUC of each fold, (5·repeats, m)."""
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=seed)
    return np.array(
        [
            auc(y[test], family.scores(X[train], y[train], X[test]))
            for train, test in cv.split(X, y)
        ]
    )


def _bootstrap(family, X, y, seed):
    """AUC on the rows left out of each stratified bootstrap sample, (20, m)."""
    rng = np.random.default_rng([632, seed])
    parts = [np.flatnonzero(y == label) for label in (False, True)]
    oob = []
    while len(oob) < BOOTSTRAPS:
        rows = np.concatenate([rng.choice(part, len(part)) for part in parts])
        out = np.bincount(rows, minlength=len(y)) == 0
        if 0 < y[out].sum() < out.sum():
            oob.append(auc(y[out], family.scores(X[rows], y[rows], X[out])))
    return np.array(oob)


@contextmanager
def _timed(clock, name):
    start = perf_counter()
    yield
    clock[name] = perf_counter() - start
