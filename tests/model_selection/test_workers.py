"""Threads and worker processes: filters of warnings, configuration, equal numbers."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, SplineTransformer, StandardScaler

from skauc import (
    AdaptivePrior,
    ResubstitutionSplit,
    UntrustedAUCWarning,
    auc_posterior,
    bootstrap_auc,
    cbauc_scorer,
    compare_cross_val_auc,
    cross_val_auc,
    lpo_auc_scorer,
    make_cv_auc_scorer,
    search_posterior,
)

RNG = np.random.default_rng(0)
Y = np.arange(60) % 2
X = pd.DataFrame(RNG.normal(size=(60, 4)) + 0.5 * Y[:, None], columns=list("abcd"))
BY_NAME = ColumnTransformer([("some", StandardScaler(), ["a", "b"])])
# behind a scaler the columns have names where the configuration says so
NAMED = make_pipeline(StandardScaler(), BY_NAME, LogisticRegression())
SHORT = LogisticRegression(max_iter=1)


def searched(model, n_jobs):
    """Posterior of a search over C; the search itself has one process."""
    grid = {f"{'logisticregression__' if model is NAMED else ''}C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, scoring=cbauc_scorer, cv=ResubstitutionSplit())
    search.fit(X, Y)
    found = search_posterior(search, X, Y, n_jobs=n_jobs, random_state=0)
    return [*found.auc.mean(), *found.p_best, found.selected.mean()]


def compared(model, n_jobs):
    found = compare_cross_val_auc([model, SGDClassifier(random_state=0)], X, Y,
                                  n_jobs=n_jobs)  # fmt: skip
    return found.folds_a, found.folds_b


CALLS = {
    "bootstrap": lambda m, n: (
        bootstrap_auc(m, X, Y, n_resamples=6, n_jobs=n).replicates
    ),
    "folds": lambda m, n: cross_val_auc(m, X, Y, n_jobs=n).parts,
    "compared": compared,
    "scorer": lambda m, n: make_cv_auc_scorer(n_jobs=n)(clone(m).fit(X, Y), X, Y),
    "search": searched,
}


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_two_workers_have_the_configuration_and_the_numbers_of_the_caller(
    call, backend
):
    with config_context(transform_output="pandas"):
        expected = np.ravel(call(NAMED, 1))
        with parallel_config(backend):
            assert np.ravel(call(NAMED, 2)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["bootstrap", "folds", "compared", "scorer", "search"])
def test_warnings_of_processes_reach_the_caller(name):
    said = []
    for n_jobs in (1, 2):
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            CALLS[name](SHORT, n_jobs)
        said.append({str(w.message) for w in issued})
    assert said[0] == said[1] != set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(SHORT).fit(X, Y)
    with pytest.warns(ConvergenceWarning) as issued:
        make_cv_auc_scorer(n_jobs=2)(fitted, X, Y)
    assert len(issued) == 1
    assert issued[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            make_cv_auc_scorer(n_jobs=2)(fitted, X, Y)


@pytest.mark.filterwarnings("ignore")
def test_searches_in_threads_leave_the_filters_of_warnings():
    models = [
        make_pipeline(SplineTransformer(degree=2), SelectKBest(k=5), SGDClassifier()),
        make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
        SGDClassifier(max_iter=5, tol=None),
    ]

    def search(k):
        model = clone(models[k % 3]).fit(X + k, Y)
        cbauc_scorer(model, X + k, Y)
        return auc_posterior(model, X + k, Y, prior=AdaptivePrior(refits=2)).mean()

    filters, before = warnings.filters, list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        assert np.isfinite(list(pool.map(search, range(12)))).all()
    assert warnings.filters is filters
    assert warnings.filters == before


def test_made_up_rows_do_not_warn():
    """Steps of unknown class are tried on rows that the user never saw."""
    codes = X.round().clip(-1, 1)
    encoder = OneHotEncoder(handle_unknown="ignore", drop="first", sparse_output=False)
    steps = [(codes, encoder), (X.mask(X > 2).set_axis(list("efgh"), axis=1), None)]
    for rows, step in steps:
        model = make_pipeline(step or SimpleImputer(), StandardScaler(), NAMED[-1])
        posterior = auc_posterior(model.fit(rows, Y), rows, Y)
        assert all("name" not in text for text in posterior.warnings)


def test_a_second_search_warns_again():
    """And so does a search over other candidates; each of them once."""
    copies = X.iloc[np.r_[:40, :20]]
    grids = {"C": [0.1, 1.0]}, {"C": [0.1, 1.0]}, {"C": [0.3, 3.0, 9.0]}
    for grid in grids:
        model, how = LogisticRegression(), {"cv": ResubstitutionSplit()}
        search = GridSearchCV(model, grid, scoring=lpo_auc_scorer, **how)
        with pytest.warns(UntrustedAUCWarning, match="are copies") as said:
            search.fit(copies, Y)
        assert len(said) == 1
        for n_jobs in (1, 2):
            with pytest.warns(UntrustedAUCWarning, match="are copies") as said:
                search_posterior(search, copies, Y, n_jobs=n_jobs)
            assert len(said) == 1
    for _ in range(3):
        with pytest.warns(UntrustedAUCWarning, match="are copies"):
            lpo_auc_scorer(search.best_estimator_, copies, Y)
