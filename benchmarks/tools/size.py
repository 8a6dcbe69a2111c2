"""Code lines of each folder of the package: no docstrings, comments or blank lines.

python -m benchmarks.tools.size [TREE]
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

NO_CODE = {"COMMENT", "NL", "NEWLINE", "INDENT", "DEDENT", "ENDMARKER"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def code_lines(source) -> int:
    """Lines of a file that hold code."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] not in NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False):
            doc = node.body[0]
            lines -= set(range(doc.lineno, doc.end_lineno + 1))
    return len(lines)


def sizes(tree) -> dict:
    """Code lines by folder of the package, and lines of tests and benchmarks."""
    tree, out = Path(tree), Counter()
    for path in (tree / "skauc").rglob("*.py"):
        folder = path.relative_to(tree).parts[1] if path.parent.name != "skauc" else "."
        out[folder] += code_lines(path.read_text())
    out = dict(sorted(out.items(), key=lambda item: -item[1]))
    out["skauc"] = sum(out.values())
    for folder in ("tests", "benchmarks"):
        files = (tree / folder).rglob("*.py")
        out[f"{folder}, all lines"] = sum(
            len(f.read_text().splitlines()) for f in files
        )
    return out


if __name__ == "__main__":
    for name, size in sizes(sys.argv[1] if len(sys.argv) > 1 else ".").items():
        print(f"{name:24}{size:7}")
