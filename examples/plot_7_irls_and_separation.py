"""
When the maximum-likelihood estimate does not exist
===================================================

If a plane separates the classes, the likelihood of a logistic regression increases
without end as the coefficients grow, and every solver stops somewhere on the way. The
solver ``newton-cholesky`` of scikit-learn gives no warning. ``IRLSLogisticRegression``
names the separation and the remedy, and reports standard errors where they exist.

Left picture: the norm of the coefficients after each Newton step, for two pairs of iris
species. Right: the coefficients of the pair that is not separated, with 95 % intervals.
"""

# %%
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from skauc import IRLSLogisticRegression

iris = load_iris()
species, kinds = iris.target, iris.target_names
X = scale(iris.data)
PAIRS = {(0, 1): "#D55E00", (1, 2): "#0072B2"}


def rows(pair):
    """Return standardised features and labels of two species."""
    keep = np.isin(species, pair)
    return X[keep], species[keep]


def norm_after(steps, pair, C=np.inf):
    """Return ‖coef‖ after this number of Newton steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped on purpose
        model = IRLSLogisticRegression(C=C, max_iter=steps).fit(*rows(pair))
    return np.linalg.norm(model.coef_)


# %%
# The warnings for each pair, of skauc and of scikit-learn.
for pair in PAIRS:
    print(f"\n{kinds[pair[0]]} against {kinds[pair[1]]}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = IRLSLogisticRegression().fit(*rows(pair))
    warning = str(caught[0].message) if caught else "no warning"
    print(f"  skauc, C=inf:        ‖coef‖ {np.linalg.norm(ours.coef_):8.2f}  {warning}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        other = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(*rows(pair))
    warning = str(caught[0].message) if caught else "no warning"
    print(
        f"  scikit-learn, C=inf: ‖coef‖ {np.linalg.norm(other.coef_):8.2f}  {warning}"
    )
    ridge = IRLSLogisticRegression(C=1.0).fit(*rows(pair))
    print(f"  skauc, C=1:          ‖coef‖ {np.linalg.norm(ridge.coef_):8.2f}")
model = IRLSLogisticRegression().fit(*rows((1, 2)))
print(f"\n{model.summary()}")
print(f"log-likelihood {model.log_likelihood_:.4f}, AIC {model.aic_:.3f}")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
steps = np.arange(1, 21)
for pair, color in PAIRS.items():
    name = f"{kinds[pair[0]]} / {kinds[pair[1]]}"
    for C, style in ((np.inf, "o-"), (1.0, "s--")):
        norms = [norm_after(k, pair, C) for k in steps]
        label = f"{name}, C = {C:g}"
        left.plot(steps, norms, style, ms=4, color=color, label=label)
left.set(xlabel="Newton steps", ylabel="‖coef‖", ylim=(0, 38))
left.set_title("separated classes have no maximum")
left.legend(fontsize=8, loc="upper left")
error = model.standard_errors_[0, 1:]
place = np.arange(4)
right.errorbar(model.coef_[0], place, xerr=1.96 * error, fmt="o", color="#0072B2")
right.axvline(0, color="k", lw=0.8)
right.set_yticks(place, [name.removesuffix(" (cm)") for name in iris.feature_names])
left.set_xticks(range(0, 21, 5))
right.set_ylim(3.6, -0.6)
right.set(xlabel="log odds per standard deviation")
right.set_title(f"{kinds[1]} / {kinds[2]}: 95 % intervals")
fig.savefig("plot_7_irls_and_separation.png", dpi=90)
print("\nFigure: plot_7_irls_and_separation.png")
