"""Runs of the panel: truth, fits and cross-validation, computed once and kept on disk.

A :class:`Run` is one problem and one family of candidates. Whatever is asked of it is
computed at the first request and kept in ``<cache>/<half>/<group>/<family>/<seed>/``,
one file for each array. None of it depends on this package.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from functools import cached_property, wraps
from pathlib import Path

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from benchmarks.panel.auc import delong, plus_632
from benchmarks.panel.families import CURVED, Family, coefficients, decisions, fold_aucs
from benchmarks.panel.problem import Problem
from benchmarks.panel.problems import make

BOOTSTRAPS, REPEATS = 20, 10


@dataclass(frozen=True)
class Key:
    """Name of a run, the folder of the real sets and the folder of the cache."""

    group: str
    family: str
    seed: int
    cache: Path
    data_dir: str | None = None
    half: str = "judge"

    @property
    def folder(self):
        """Where the files of the run are kept."""
        group = self.group.replace(" ", "_")
        return self.cache / self.half / group / self.family / str(self.seed)


def kept(compute):
    """A property whose array is computed once and kept in the folder of the run."""

    @wraps(compute)
    def array(run):
        path = run.key.folder / f"{compute.__name__.strip('_')}.npy"
        if not path.exists():
            value = compute(run)
            _write(path, lambda file: np.save(file, value))
        return np.load(path)

    return cached_property(array)


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
    def cluster(self):
        """Data set (or simulated design) that other runs share."""
        return self.problem.design.get("set", f"{self.key.group} {self.key.seed}")

    @cached_property
    def family(self):
        """The grid of candidates."""
        return Family(self.key.family, *self.problem.X.shape, self.key.seed)

    @property
    def training(self):
        """Training rows and their labels."""
        return self.problem.X, self.problem.y

    @cached_property
    def models(self):
        """The candidates fitted on all training rows."""
        path = self.key.folder / "models.pickle"
        if not path.exists():
            models = [m.fit(*self.training) for m in self.family.candidates()]
            _write(path, lambda file: pickle.dump(models, file))
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

    @kept
    def coefficients(self):
        """Coefficients of the candidates on the original features (P, m)."""
        return np.array([coefficients(model) for model in self.models]).T

    @kept
    def _truth(self):
        """True AUCs and their variances (2, m)."""
        if self.key.family in CURVED:
            if self.problem.held_out is None:  # random labels
                return np.array([np.full(len(self.models), 0.5), 0.0 * self.peer])
            X, y = self.problem.held_out
            return np.array(delong(y, decisions(self.models, X)))
        return np.array(self.problem.truth(self.coefficients))

    @kept
    def resubstitution(self):
        """AUC of the candidates on X, y (m,)."""
        X, y = self.training
        return delong(y, decisions(self.models, X))[0]

    @kept
    def folds(self):
        """AUC of each of five stratified folds (5, m)."""
        return self._cross_validation(1)

    @property
    def peer(self):
        """Mean of the five folds (m,)."""
        return self.folds.mean(axis=0)

    @kept
    def repeated_folds(self):
        """AUC of each fold of ten repetitions (50, m)."""
        return self._cross_validation(REPEATS)

    @kept
    def out_of_bag(self):
        """AUC on the rows that each of 20 bootstrap samples left out (20, m)."""
        return fold_aucs(self.family.candidates(), *self.training, self._bootstrap())

    @property
    def plus_632(self):
        """.632+ bootstrap of the whole Pipeline."""
        return plus_632(self.resubstitution, self.out_of_bag.mean(axis=0))

    def _cross_validation(self, repeats):
        """AUC of each of five stratified folds, repeated."""
        seed = self.key.seed
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=seed)
        return fold_aucs(self.family.candidates(), *self.training, cv)

    def _bootstrap(self):
        """Rows of 20 samples, and the rows that each left out."""
        y, rng = self.training[1], np.random.default_rng([632, self.key.seed])
        parts, found = [np.flatnonzero(y == label) for label in (False, True)], []
        while len(found) < BOOTSTRAPS:
            rows = np.concatenate([rng.choice(part, len(part)) for part in parts])
            out = np.setdiff1d(np.arange(len(y)), rows)
            if 0 < y[out].sum() < len(out):
                found.append((rows, out))
        return found


def _write(path, write):
    """Write a file under another name first, so that no interrupted one is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    with draft.open("wb") as file:
        write(file)
    draft.rename(path)
