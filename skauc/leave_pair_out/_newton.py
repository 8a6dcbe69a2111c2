"""What all damped Newton iterations here go by."""

# A step t of descent ``gain`` is taken where the objective falls by ARMIJO·t·gain or
# more, and halved at most HALVINGS times: Nocedal & Wright (2006), Numerical
# Optimization, section 3.1.
ARMIJO, HALVINGS = 1e-4, 30
FLAT = 1e-3  # curvature of a loss that has none at any row: a gradient step
