"""Check an installed wheel: README's first program and the examples of one module.

It runs in an environment with nothing but the wheel and its dependencies, outside the
repository, so that the files of the repository cannot stand in for missing ones.
"""

import doctest
import re
import sys
from pathlib import Path

import skauc

readme, installed = Path(sys.argv[1]), Path(skauc.__file__).parent
if "site-packages" not in installed.parts:
    sys.exit(f"skauc must be imported from the installed wheel, got {installed}")
print(f"skauc {skauc.__version__} from {installed}")
program = re.search(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)
exec(compile(program[1], str(readme), "exec"), {})
flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
module = sys.modules[skauc.class_moments.__module__]
result = doctest.testmod(module, optionflags=flags)
print(f"{module.__name__}: {result.attempted} examples, {result.failed} failed")
if result.failed or not result.attempted:
    sys.exit(1)
