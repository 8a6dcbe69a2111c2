"""True AUC that each shrinkage rule of ``GaussianAUCClassifier`` loses.

    python benchmarks/shrinkage.py [--data-dir DIR] [--fast]

Problems of ``problems.py`` on seeds that no constant was chosen on. The loss of a rule
is the largest true AUC of 25 fixed shrinkages less that of the rule's own. Beside the
package's rules: the same path scored by 5-fold cross-validation and by the Bayesian
AUC with the published prior. Writes ``shrinkage.csv``.
"""

import warnings

import numpy as np
from paper_runs import parse, resume
from problems import GROUPS, real, real_names, simulated
from results_table import write_table
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import GaussianAUCClassifier, ResubstitutionSplit, make_cbauc_scorer

FIRST_SEED = 7000
PATH = np.geomspace(1e-3, 1, 25)
RULES = ("bayes", "auto", "oas")
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
SEARCHES = {
    "path, 5-fold CV (125 fits)": {"scoring": "roc_auc", "cv": FOLDS},
    "path, published prior": {
        "scoring": make_cbauc_scorer(prior="paper", scale="probit"),
        "cv": ResubstitutionSplit(),
    },
}
LARGEST = 2000  # features: the path of fits is slow beyond


def losses(*job):
    """Group of the problem, and the loss of every rule."""
    problem = simulated(*job) if len(job) == 1 else real(*job)
    if problem is None or problem.X.shape[1] > LARGEST:
        return None
    X, y, out = problem.X, problem.y, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separation is part of the subject
        best = max(problem.truth(_model(alpha).fit(X, y)) for alpha in PATH)
        for rule in RULES:
            out[rule] = best - problem.truth(_model(rule).fit(X, y))
        grid = {"gaussianaucclassifier__shrinkage": PATH}
        for name, how in SEARCHES.items():
            search = GridSearchCV(_model(0.5), grid, **how).fit(X, y)
            out[name] = best - problem.truth(search.best_estimator_)
    return problem.group, out


def _model(shrinkage):
    model = GaussianAUCClassifier(solver="closed_form", shrinkage=shrinkage)
    return make_pipeline(StandardScaler(), model)


def main(argv=None):
    """Run all problems and write one row a rule."""
    arguments = parse(__doc__, argv)
    sizes = (20,) if arguments.fast else (20, 30, 60, 150)
    jobs = [(FIRST_SEED + i,) for i in range(4 if arguments.fast else 160)]
    directory = str(arguments.data_dir) if arguments.data_dir else None
    names = real_names(directory)
    jobs += [
        (name, n_rows, FIRST_SEED, directory)
        for name in (names[:2] if arguments.fast else names)
        for n_rows in sizes
    ]
    found = [r for r in resume("shrinkage", losses, jobs, arguments) if r is not None]
    groups = [g for g in GROUPS if any(group == g for group, _ in found)]
    rows = []
    for rule in found[0][1]:
        row = {"rule": rule}
        for name in groups:
            loss = np.array([out[rule] for group, out in found if group == name])
            error = loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else np.nan
            row[f"{name} ({len(loss)})"] = f"{loss.mean():.4f} ({error:.4f})"
        rows.append(row)
    write_table("shrinkage", rows, arguments.out)


if __name__ == "__main__":
    main()
