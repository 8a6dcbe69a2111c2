"""True AUC that each way to shrink ``GaussianAUCClassifier`` loses.

    python benchmarks/shrinkage.py [--data-dir DIR] [--fast]

Problems of ``problems.py`` on seeds that no constant was chosen on. The loss of a
method is the largest true AUC of 25 fixed shrinkages less that of its own. Beside the
package's methods: the same path scored by 5-fold cross-validation and by the Bayesian
AUC with the published prior. Writes ``shrinkage.csv``.
"""

import warnings

import numpy as np
from panel_families import coefficients
from paper_runs import parse, resume
from problems import make
from problems_real import REAL
from results_table import write_table
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import GaussianAUCClassifier, ResubstitutionSplit, make_cbauc_scorer

FIRST_SEED = 7000
GROUPS = ("sim Gaussian", "sim other", *REAL)
PATH = np.geomspace(1e-3, 1, 25)
METHODS = ("bayes", "auto", "oas")
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
SEARCHES = {
    "path, 5-fold CV (125 fits)": {"scoring": "roc_auc", "cv": FOLDS},
    "path, published prior": {
        "scoring": make_cbauc_scorer(prior="paper", scale="probit"),
        "cv": ResubstitutionSplit(),
    },
}
LARGEST = 2000  # features: the path of fits is slow beyond


def losses(group, seed, data_dir):
    """Group of the problem, and the loss of every method."""
    problem = make(group, "l2", seed, data_dir)
    if problem is None or problem.X.shape[1] > LARGEST:
        return None
    X, y, out = problem.X, problem.y, {}

    def truth(model):
        return float(problem.truth(coefficients(model)[:, None])[0][0])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separation is part of the subject
        best = max(truth(_model(alpha).fit(X, y)) for alpha in PATH)
        for method in METHODS:
            out[method] = best - truth(_model(method).fit(X, y))
        grid = {"gaussianaucclassifier__shrinkage": PATH}
        for name, how in SEARCHES.items():
            search = GridSearchCV(_model(0.5), grid, **how).fit(X, y)
            out[name] = best - truth(search.best_estimator_)
    return problem.group, out


def _model(shrinkage):
    model = GaussianAUCClassifier(solver="closed_form", shrinkage=shrinkage)
    return make_pipeline(StandardScaler(), model)


def main(argv=None):
    """Run all problems and write one row a method."""
    arguments = parse(__doc__, argv)
    directory = str(arguments.data_dir) if arguments.data_dir else None
    seeds = range(FIRST_SEED, FIRST_SEED + (1 if arguments.fast else 60))
    groups = GROUPS[:2] if arguments.fast else GROUPS
    jobs = [(group, seed, directory) for group in groups for seed in seeds]
    found = [r for r in resume("shrinkage", losses, jobs, arguments) if r is not None]
    rows = []
    for method in found[0][1]:
        row = {"shrinkage": method}
        for name in dict.fromkeys(group for group, _ in found):
            loss = np.array([out[method] for group, out in found if group == name])
            error = loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else np.nan
            row[f"{name} ({len(loss)})"] = f"{loss.mean():.4f} ({error:.4f})"
        rows.append(row)
    write_table("shrinkage", rows, arguments.out)


if __name__ == "__main__":
    main()
