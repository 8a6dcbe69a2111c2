"""Types of arguments that many public functions take."""

import numpy as np
from numpy.typing import ArrayLike

Values = ArrayLike | None  # of an argument that may be left out
Seed = int | np.random.Generator | np.random.RandomState | None
