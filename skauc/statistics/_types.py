"""Types of arguments that many public functions take."""

import numpy as np
from numpy.typing import ArrayLike

Column = ArrayLike | None  # one value for each row, or nothing
Seed = int | np.random.Generator | np.random.RandomState | None
