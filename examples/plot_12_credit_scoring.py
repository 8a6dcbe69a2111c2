"""
Credit scoring: mixed columns, and a sample with weights
========================================================

A bank knows which of its 20 000 customers did not pay back. For a model it draws a
sample: half of those customers, and one in fifty of the others, twice as many where the
customer had no job. Each row of the sample stands for 1 to 50 customers, its
**sampling weight**. The columns are numbers and a category.

A weight of 50 is not 50 observations. skauc warns, and the remedy is to divide the
weights so that they add up to the effective number of rows. All 20 000 customers show
whether the report is right.
"""

# %%
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skauc import SampleWeightWarning, auc_estimate, auc_posterior, operating_points

rng = np.random.default_rng(7)
CUSTOMERS, NUMBERS = 20_000, ["income", "amount", "age"]
RISK = {"employed": 0, "retired": 0, "self-employed": 0.5, "unemployed": 1.5}


def draw_customers():
    """Return the columns of all customers, and who did not pay back."""
    X = pd.DataFrame(
        {
            "income": rng.lognormal(7.8, 0.5, CUSTOMERS),
            "amount": rng.lognormal(8.5, 0.8, CUSTOMERS),
            "age": rng.uniform(20, 70, CUSTOMERS),
            "job": rng.choice(list(RISK), CUSTOMERS, p=[0.6, 0.15, 0.15, 0.1]),
        }
    )
    burden = np.log(X.amount / X.income) - 0.7
    logit = -3 + 1.2 * burden - 0.02 * (X.age - 45) + X.job.map(RISK)
    return X, (rng.random(CUSTOMERS) < 1 / (1 + np.exp(-logit))).to_numpy()


# %%
# The sample, and the number of customers that each row stands for.
X_all, y_all = draw_customers()
chance = np.where(y_all, 0.5, 0.02) * np.where(X_all.job == "unemployed", 2, 1)
drawn = rng.random(CUSTOMERS) < chance
X, y, w = X_all[drawn], y_all[drawn], 1 / chance[drawn]
print(
    f"{len(y)} rows, of which {y.sum()} did not pay back; weights {w.min():.0f} to",
    end=" ",
)
print(f"{w.max():.0f}, sum {w.sum():.0f}")

# %%
# One Pipeline for numbers and categories. The weights go to the last step.
columns = make_column_transformer(
    (OneHotEncoder(drop="first"), ["job"]), (StandardScaler(), NUMBERS)
)
pipe = make_pipeline(columns, LogisticRegression())


def report(name, weight):
    """Fit with these weights; print and return the report and the AUC of all."""
    model = pipe.fit(X, y, logisticregression__sample_weight=weight)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        posterior = auc_posterior(model, X, y, sample_weight=weight)
    low, high = posterior.interval(0.95)
    truth = auc_estimate(y_all, model.decision_function(X_all)).auc
    print(f"{name:20} {posterior.mean():.3f} [{low:.3f}, {high:.3f}]", end=" ")
    print(f"all customers {truth:.3f}; warnings: {len(caught)}")
    for warning in caught:
        print(f"    {warning.category.__name__}: {str(warning.message)[:60]} …")
    return posterior.mean(), low, high, truth


# %%
# With the raw weights the report takes each row for up to 50 observations: its interval
# is too narrow. The divided weights have the same ratios, and so give the same estimate
# with an honest interval. A SampleWeightWarning remains, as a reminder.
effective = w * w.sum() / (w**2).sum()
print(f"effective number of rows: {effective.sum():.0f}\n")
weights = {"raw weights": w, "effective weights": effective}
reports = {name: report(name, weight) for name, weight in weights.items()}

# %%
# The threshold of a decision uses weights too. A customer who does not pay back costs
# ten times as much as a good customer who is sent away.
warnings.simplefilter("ignore", SampleWeightWarning)
score = pipe.decision_function(X)
points = operating_points(y, score, best="youden", cost=10, sample_weight=effective)
everyone = operating_points(
    y_all, pipe.decision_function(X_all), threshold=points.threshold
)
print(f"\nof the bad risks {points.sensitivity[0]:.2f} are found", end=" ")
print(f"(all customers: {everyone.sensitivity[0]:.2f})")
print(f"of the good ones {points.specificity[0]:.2f} are kept", end=" ")
print(f"({everyone.specificity[0]:.2f})")

# %%
fig, ax = plt.subplots(figsize=(6.4, 2.6), layout="constrained")
for place, (mean, low, high, truth) in enumerate(reports.values()):
    ax.plot([low, high], [place, place], color="#0072B2")
    ax.plot(mean, place, "o", color="#0072B2", label=None if place else "report")
    ax.plot(truth, place, "k|", ms=16, label=None if place else "all customers")
ax.set_yticks(range(len(reports)), reports)
ax.set(xlabel="AUC, 95 % interval", ylim=(-0.6, 1.6))
ax.legend(loc="upper left")
fig.savefig("plot_12_credit_scoring.png", dpi=90)
print("\nFigure: plot_12_credit_scoring.png")
