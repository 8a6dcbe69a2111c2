"""
Is model B better than model A?
===============================

The AUCs of two models on the same rows vary together, so two separate intervals do not
answer the question. Two calls do. ``compare_auc`` is DeLong's paired test, for rows
that trained neither model. ``auc_difference_posterior`` returns the probability that B
has the larger true AUC, from the training rows alone.

The data are the diabetes data: does the disease progress faster than in the median
patient? First question: do triglycerides (column s5) improve a model of body mass index
and blood pressure? Second question: are triglycerides a better addition than HDL
cholesterol (s3)?

Published priors can be used in place of the adaptive prior where features are few. Here
they weigh as much as half a row for each class mean and P + 2 rows for the covariance,
with P = 5 or 6 features and 221 rows. The last line of each question shows how little
they change the answer.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauc import NormalInverseWishart, auc_difference_posterior, compare_auc

X, progression = load_diabetes(return_X_y=True)
y = progression > np.median(progression)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
COLUMNS = {"bmi": 2, "bp": 3, "HDL": 6, "triglycerides": 8}


def fit(*names):
    """Fit a logistic regression of the named columns to the training rows."""
    columns = make_column_transformer(
        (StandardScaler(), [COLUMNS[name] for name in names])
    )
    return make_pipeline(columns, LogisticRegression()).fit(X_train, y_train)


with_triglycerides = fit("bmi", "bp", "triglycerides")
questions = {  # A and B
    "B triglycerides, A none": (fit("bmi", "bp"), with_triglycerides),
    "B triglycerides, A HDL": (fit("bmi", "bp", "HDL"), with_triglycerides),
}

# %%
# Both answers to both questions. The answer is yes or no if 0 is not in the interval.
BLUE, ORANGE = "#0072B2", "#D55E00"


def answer(interval):
    """Return yes, no or not sure, by the interval of the AUC of B minus that of A."""
    low, high = interval
    return "yes" if low > 0 else "no" if high < 0 else "not sure"


def draw(axes, name, scores, test, posterior):
    """Draw hold-out ROC curves, and the posterior of the difference."""
    for score, label, color in zip(scores, "AB", (ORANGE, BLUE), strict=True):
        false_positive, true_positive, _ = roc_curve(y_test, score)
        label = f"{label}, AUC {roc_auc_score(y_test, score):.3f}"
        axes[0].plot(false_positive, true_positive, color=color, label=label)
    axes[0].legend(loc="lower right")
    axes[0].set(xlabel="false positive rate", ylabel="true positive rate")
    axes[0].set_title(f"{name}; {len(y_test)} hold-out rows")
    low, high = posterior.interval(0.95)
    axes[1].hist(posterior.difference, 80, density=True, color=BLUE, alpha=0.4)
    axes[1].axvspan(low, high, color=BLUE, alpha=0.12, lw=0, label="95 % posterior")
    axes[1].axvline(0, color="k", lw=1)
    axes[1].errorbar(
        test.difference,
        axes[1].get_ylim()[1] * 0.1,
        xerr=np.abs(np.subtract(test.confidence_interval(), test.difference))[:, None],
        fmt="o",
        color=ORANGE,
        capsize=4,
        label="95 % DeLong, hold-out",
    )
    axes[1].set(xlabel="AUC of B − AUC of A", yticks=[])
    axes[1].set_title(f"P(B better | training rows) = {posterior.probability:.3f}")
    axes[1].legend(fontsize=8)


def report(name, test, posterior):
    """Print both answers, and whether they agree."""
    lines = {
        "hold-out": (
            test.difference,
            test.confidence_interval(0.95),
            f"p = {test.pvalue:.4f}",
        ),
        "training rows": (
            posterior.mean(),
            posterior.interval(0.95),
            f"P(B better) = {posterior.probability:.3f}",
        ),
    }
    for rows, (difference, (low, high), evidence) in lines.items():
        print(
            f"{name:24} {rows:13} {difference:+6.3f} [{low:+.3f}, {high:+.3f}] ", end=""
        )
        print(f"{evidence:>20}  {answer((low, high))}")
    answers = [answer(interval) for _, interval, _ in lines.values()]
    print(
        f"  Both say: {answers[0]}."
        if answers[0] == answers[1]
        else f"  They differ: {answers[0]} on the hold-out, {answers[1]} in training."
    )


fig, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
print(f"{'':24} {'':13} {'B - A':>6} {'95 % interval':>16} {'':>20}  B better?")
for row, (name, (a, b)) in zip(axes, questions.items(), strict=True):
    score_a, score_b = (model.decision_function(X_test) for model in (a, b))
    test = compare_auc(y_test, score_b, score_a)
    posterior = auc_difference_posterior(b, a, X_train, y_train)
    report(name, test, posterior)
    moved = [
        auc_difference_posterior(
            b, a, X_train, y_train, prior=NormalInverseWishart(scale=scale)
        ).probability
        - posterior.probability
        for scale in (0.25, 4)
    ]
    print(
        "  Published priors with a quarter of the variance, or with four times, ",
        end="",
    )
    print(f"move P(B better) by at most {np.abs(moved).max():.3f}.\n")
    draw(row, name, (score_a, score_b), test, posterior)
fig.savefig("plot_6_compare_two_models.png", dpi=80)
print("Figure: plot_6_compare_two_models.png")
