"""Print the lowest declared versions, ``name==version``, as constraints for pip.

They are read from pyproject's own lower bounds: what is declared is what is tested.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
project = project["project"]
declared = project["dependencies"] + project["optional-dependencies"]["test"]
for requirement in sorted(set(declared)):
    name, version = re.fullmatch(r"([\w-]+)>=([\w.]+)", requirement).groups()
    print(f"{name}=={version}")
