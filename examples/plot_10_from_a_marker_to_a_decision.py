"""
From a marker to a decision: which threshold, how certain, and what next?
=========================================================================

A marker is measured in 150 patients. Its AUC alone decides nothing. Which threshold
finds 90 % of the malignant tumours? How many benign tumours are then called malignant?
What does a positive call mean where few tumours are malignant? How many patients does
the next study need? Here the marker is the compactness of cell nuclei in the breast
cancer data; the other 419 patients show whether the answers were right.

There are two questions about the threshold. How good is *this* threshold, which these
patients chose, for new patients? And how good is the marker where 90 % are found? The
second threshold is not known, so that its specificity is less certain. All intervals
of one call of ``operating_points`` answer one of them, ``at="chosen"`` or
``at="population"``; 200 samples of these patients show that both cover.
A study that is planned with an estimated AUC may be too small, because the estimate may
be too high: its lower limit is the safer plan.
"""

# %%
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from skauc import (
    auc_estimate,
    auc_power,
    auc_sample_size,
    empirical_roc,
    operating_points,
)

TARGET, PREVALENCE = 0.9, 0.1
COMPACTNESS = 5
X, benign = load_breast_cancer(return_X_y=True)
marker, malignant = X[:, COMPACTNESS], benign == 0
s, s_rest, y, y_rest = train_test_split(
    marker, malignant, train_size=150, stratify=malignant, random_state=0
)

# %%
# How good is the marker? The whole curve, and its part with at least 90 % sensitivity.
estimate = auc_estimate(y, s)
part = estimate.partial_auc(tpr=(TARGET, 1), standardize=True)
rest = auc_estimate(y_rest, s_rest)
part_rest = rest.partial_auc(tpr=(TARGET, 1), standardize=True)
print(f"{y.sum()} malignant, {(~y).sum()} benign tumours; 95 % intervals in brackets\n")
print(f"{'':28} {'150 patients':>22} {'the others':>11}")


def row(name, value, interval, other):
    """Print a value with its interval, and the value in the other patients."""
    low, high = (float(np.squeeze(limit)) for limit in interval)
    value, other = float(np.squeeze(value)), float(np.squeeze(other))
    print(f"{name:28} {value:5.3f} [{low:.3f}, {high:.3f}] {other:11.3f}")


row("AUC", estimate.auc, estimate.confidence_interval(), rest.auc)
row("where 90 % are found", part.auc, part.confidence_interval(), part_rest.auc)

# %%
# The threshold that finds 90 % (``score >= threshold`` is called malignant).
points = operating_points(y, s, sensitivity=TARGET)
population = operating_points(y, s, sensitivity=TARGET, at="population")
points_rest = operating_points(y_rest, s_rest, sensitivity=TARGET)
for name in ("threshold", "specificity"):
    limits, other = (
        population.confidence_interval(name=name),
        getattr(points_rest, name),
    )
    row(f"{name}, 90 % found", getattr(points, name), limits, other)
used = operating_points(y_rest, s_rest, threshold=points.threshold)
limits = points.confidence_interval(name="specificity")
row("specificity, this threshold", points.specificity, limits, used.specificity)

# %%
# Is this true in general, not only for these 150 patients? Draw 150 of all patients 200
# times. To be 95 % sure of finding 90 %, use the lower limit of the threshold.
rng = np.random.default_rng(0)
whole = operating_points(malignant, marker, sensitivity=TARGET).specificity[0]
inside, found = {"population": 0, "chosen": 0}, 0


def surely(points):
    """Return the threshold that finds the wanted share with a confidence of 95 %."""
    return points.confidence_interval(0.95, name="threshold", alternative="greater").low


for _ in range(200):
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(malignant == c), (y == c).sum())
            for c in (False, True)
        ]
    )
    for at in inside:
        drawn = malignant[rows], marker[rows]
        again = operating_points(*drawn, sensitivity=TARGET, at=at)
        true = (
            np.mean(marker[~malignant] < again.threshold) if at == "chosen" else whole
        )
        options = {"n_resamples": 1000} if at == "population" else {}
        low, high = again.confidence_interval(name="specificity", **options)
        inside[at] += int(low[0] <= true <= high[0])
        if at == "population":
            found += int(np.mean(marker[malignant] >= surely(again)) >= TARGET)
print("\nThe specificity of all patients is inside, of 200 samples of 150:")
print(f"  where 90 % are found: {inside['population'] / 200:.3f}", end="; ")
print(f"at the threshold of the sample: {inside['chosen'] / 200:.3f}")
print(f"  the lower limit of the threshold finds 90 % of all: {found / 200:.3f}")

# %%
# What does a positive call at this threshold mean if one tumour in ten is malignant?
sure = surely(population)[0]
decision = operating_points(y, s, threshold=sure, prevalence=PREVALENCE)
other = operating_points(y_rest, s_rest, threshold=sure, prevalence=PREVALENCE)
print(f"\nThreshold {sure:.4f}: 95 % sure of 90 %; one tumour in ten malignant")
for name in ("sensitivity", "specificity", "ppv", "npv"):
    row(
        name,
        getattr(decision, name),
        decision.confidence_interval(name=name),
        getattr(other, name),
    )

# %%
# The next study is to show that the AUC exceeds .8. How large must it be, and what is
# its power if the AUC is that of the other patients?
ratio = (~y).sum() / y.sum()
low = estimate.confidence_interval().low
print("\nTo show with power .9 that the AUC exceeds .8")
for name, auc in (("the estimate", estimate.auc), ("its lower limit", low)):
    size = auc_sample_size(auc, null=0.8, power=0.9, ratio=ratio)
    power = auc_power(rest.auc, null=0.8, n_pos=size.n_pos, n_neg=size.n_neg)
    print(f"  planned with {name}, {auc:.3f}: {size.n_pos} + {size.n_neg} patients,")
    print(f"    power {power:.2f} if the AUC is that of the others")
narrow = auc_sample_size(low, width=0.05, ratio=ratio)
print(f"  for an interval of width .05: {narrow.n_pos} + {narrow.n_neg}")

# %%
fig, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
empirical_roc(y, s).plot(
    axes[0], name="150 patients", band=["pointwise", "simultaneous"]
)
curve = empirical_roc(y_rest, s_rest)
axes[0].plot(curve.fpr, curve.tpr, "k:", label="other patients")
axes[0].axhspan(TARGET, 1, color="#E69F00", alpha=0.2, lw=0, label="90 % found")
axes[0].legend(loc="lower right", fontsize="small")

every = operating_points(y, s, prevalence=PREVALENCE)
for name, color in (("sensitivity", "#D55E00"), ("specificity", "#0072B2")):
    limits = every.confidence_interval(name=name)
    rate = getattr(every, name)  # from the highest threshold down
    axes[1].step(every.threshold, rate, where="post", color=color, label=name)
    axes[1].fill_between(every.threshold, *limits, step="post", color=color, alpha=0.2)
axes[1].axvspan(
    *(limit[0] for limit in population.confidence_interval(name="threshold")),
    color="#888888",
    alpha=0.3,
    lw=0,
    label="threshold for 90 %",
)
axes[1].axvline(sure, color="k", ls="--", label="95 % sure of 90 %")
axes[1].set(xlabel="compactness >= threshold", ylabel="rate", xlim=(0.02, 0.28))
axes[1].axhline(TARGET, color="k", lw=1)
axes[1].legend(loc="center right", fontsize="small")

n_pos = np.arange(10, 800)
for auc, label in ((estimate.auc, "the estimate"), (low, "its lower limit")):
    power = auc_power(auc, null=0.8, n_pos=n_pos, n_neg=np.ceil(ratio * n_pos))
    axes[2].plot(n_pos, power, label=f"AUC {auc:.3f}, {label}")
axes[2].axhline(0.9, color="k", lw=1)
axes[2].set(xlabel="malignant tumours in the next study", ylabel="power, AUC above .8")
axes[2].legend(loc="lower right", fontsize="small")
fig.savefig("plot_10_from_a_marker_to_a_decision.png", dpi=80)
print("Figure: plot_10_from_a_marker_to_a_decision.png")
