"""Runs of the panel: truth, fits and cross-validation, computed once and kept on disk.

A :class:`Run` is one problem and one family of candidates. Whatever is asked of it is
computed at the first request and kept in ``<cache>/<half>/<group>/<family>/<seed>/``,
one file for each array. None of it depends on this package.
"""

from __future__ import annotations

import os
import pickle
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.panel.auc import auc, plus_632
from benchmarks.panel.families import FAMILIES, Family, coefficients
from benchmarks.panel.problem import Problem
from benchmarks.panel.problems import GROUPS, make

BOOTSTRAPS, REPEATS = 20, 10
HELD_OUT_FAMILIES = ("l2", "hinge", "kbest")


@dataclass(frozen=True)
class Key:
    """Name of a run, the folder of the real sets and the folder of the cache."""

    group: str
    family: str
    seed: int
    cache: Path
    data_dir: Path | None = None
    half: str = "judge"

    @property
    def folder(self):
        """Where the files of the run are kept."""
        group = self.group.replace(" ", "_")
        return self.cache / self.half / group / self.family / str(self.seed)


def cells(groups=GROUPS, families=FAMILIES):
    """Pairs of group and family that exist."""
    return [
        (group, family)
        for group in groups
        for family in families
        if (group != "held-out rows" or family in HELD_OUT_FAMILIES)
    ]


@dataclass(frozen=True, eq=False)
class Run:
    """One problem and one family of m candidates."""

    key: Key

    @cached_property
    def problem(self) -> Problem | None:
        """The rows, drawn again; None where the cell does not exist."""
        key = self.key
        return make(key.group, key.family, key.seed, key.data_dir, key.half)

    @property
    def group(self):
        """Group of the panel."""
        return self.key.group

    @property
    def rows(self):
        """Whether X and y trained the models."""
        return "training" if self.problem.X_train is None else "held-out"

    @property
    def cluster(self):
        """Data set (or simulated design) that other runs share."""
        return self.problem.design.get("set", f"{self.group} {self.key.seed}")

    @cached_property
    def family(self):
        """The grid of candidates."""
        X, _ = self.training
        return Family(self.key.family, *X.shape, self.key.seed)

    @property
    def training(self):
        """Training rows and their labels."""
        p = self.problem
        return (p.X, p.y) if p.X_train is None else (p.X_train, p.y_train)

    @cached_property
    def models(self):
        """The candidates fitted on all training rows."""
        path = self.key.folder / "models.pickle"
        if not path.exists():
            _write(path, lambda file: pickle.dump(self._fitted(), file))
        with path.open("rb") as file:
            return pickle.load(file)

    @property
    def truth(self):
        """True AUC of each candidate (m,)."""
        return self._truth[0]

    @property
    def truth_variance(self):
        """Variance with which the truth is known (0: exactly)."""
        return self._truth[1]

    @cached_property
    def _truth(self):
        W = self._kept("coefficients", self._coefficients)
        return self._kept("truth", lambda: np.array(self.problem.truth(W)))

    @cached_property
    def resubstitution(self):
        """AUC of the candidates on X, y (m,)."""
        X, y = self.problem.X, self.problem.y
        return self._kept(
            "resubstitution",
            lambda: auc(y, np.array([m.decision_function(X) for m in self.models])),
        )

    @cached_property
    def folds(self):
        """AUC of each of five stratified folds (5, m)."""
        return self._kept("folds", lambda: self._cross_validation(1))

    @property
    def peer(self):
        """5-fold CV's mean; the empirical AUC of held-out rows."""
        if self.rows == "held-out":
            return self.resubstitution
        return self.folds.mean(axis=0)

    @cached_property
    def repeated_folds(self):
        """AUC of each fold of ten repetitions (50, m)."""
        return self._kept("repeated_folds", lambda: self._cross_validation(REPEATS))

    @cached_property
    def out_of_bag(self):
        """AUC on the rows that each of 20 bootstrap samples left out (20, m)."""
        return self._kept("out_of_bag", self._bootstrap)

    @property
    def plus_632(self):
        """.632+ bootstrap of the whole Pipeline."""
        return plus_632(self.resubstitution, self.out_of_bag.mean(axis=0))

    def _kept(self, name, compute):
        path = self.key.folder / f"{name}.npy"
        if not path.exists():
            value = compute()
            _write(path, lambda file: np.save(file, value))
        return np.load(path)

    def _fitted(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # convergence is a subject of the panel
            return [m.fit(*self.training) for m in self.family.candidates()]

    def _coefficients(self):
        return np.array([coefficients(model) for model in self.models]).T

    def _cross_validation(self, repeats):
        (X, y), seed = self.training, self.key.seed
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=seed)
        return np.array(
            [
                auc(y[test], self.family.scores(X[train], y[train], X[test]))
                for train, test in cv.split(X, y)
            ]
        )

    def _bootstrap(self):
        X, y = self.training
        rng = np.random.default_rng([632, self.key.seed])
        parts = [np.flatnonzero(y == label) for label in (False, True)]
        found = []
        while len(found) < BOOTSTRAPS:
            rows = np.concatenate([rng.choice(part, len(part)) for part in parts])
            out = np.bincount(rows, minlength=len(y)) == 0
            if 0 < y[out].sum() < out.sum():
                found.append(auc(y[out], self.family.scores(X[rows], y[rows], X[out])))
        return np.array(found)


def _write(path, write):
    """Write a file under another name first, so that no interrupted one is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    with draft.open("wb") as file:
        write(file)
    draft.rename(path)
