"""Which tests run a line, and whether they notice that it changed: a pytest plugin.

The tests are collected once. For each mutant the process forks; the child changes the
module in place and runs the tests that execute the changed line until one fails: first
those that noticed most mutants of the same function, then those of the file that
mirrors the module, the quickest first. Importing and collecting are so paid once, not
once a mutant.
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import signal
import sys
import time
import types
from collections import Counter, defaultdict
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this package, whatever is installed
PLAIN = (int, float, tuple, np.ndarray)
SLOWEST = 6.0  # seconds, as recorded: a test that runs longer is not asked
TOGETHER = 9.0  # seconds, as recorded, of the tests that one mutant is asked by
LONGEST = 30  # seconds of processor time: an endless mutant is noticed
MEMORY = 12 * 2**30  # bytes of addresses: one that asks for all memory is noticed too


class Recorder:
    """Plugin: which lines of the package each test runs, and how long it takes."""

    def __init__(self, package):
        self.package, self.seconds = str(Path(package)) + os.sep, {}
        self.tests, self.seen = defaultdict(lambda: defaultdict(list)), set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        """Run one test under its own name."""
        self.seen.clear()
        start = time.perf_counter()
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.seconds[item.nodeid] = time.perf_counter() - start
            for file, line in self.seen:
                self.tests[file.removeprefix(self.package)][line].append(item.nodeid)

    def _called(self, frame, event, value):
        if frame.f_code.co_filename.startswith(self.package):
            return self._line
        return None

    def _line(self, frame, event, value):
        if event == "line":
            self.seen.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line


def record(package, tests) -> dict:
    """Run the tests once; which lines each ran, and its seconds."""
    recorder = Recorder(package)
    if pytest.main([*tests, "-q", "-p", "no:cacheprovider"], plugins=[recorder]):
        raise RuntimeError("the tests fail as they are")
    return {"lines": recorder.tests, "seconds": recorder.seconds}


def judged(package, tests, known, mutants, paths, tell):
    """Judge mutants: ``tell(mutant, test)`` hears which test noticed it, or ""."""
    judge = Judge(package, known, mutants, paths, tell)
    plain = ["-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=line"]
    pytest.main([*tests, *plain], plugins=[judge])


class Judge:
    """Plugin: instead of running the session, judge mutants in forked children."""

    def __init__(self, package, known, mutants, paths, tell):
        self.package, self.known = Path(package), known
        self.mutants, self.paths, self.tell = mutants, paths, tell
        self.noticed = defaultdict(Counter)  # tests that noticed, by function

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Judge all of them."""
        items = {item.nodeid: item for item in session.items}
        gc.freeze()  # nothing of all this is looked at, and so copied, in a child
        for mutant in self.mutants:
            names = list(items)
            if self.known:
                names = [name for name in self._tests(mutant) if name in items]
            path = self.paths[mutant.module]
            test = noticed_by(mutant, path, [items[name] for name in names])
            if test:
                self.noticed[mutant.module, mutant.function][test] += 1
            self.tell(mutant, test)
        return True

    def _tests(self, mutant) -> list[str]:
        """Tests that run the mutant's lines, the likeliest to notice first."""
        path = self.paths[mutant.module].relative_to(self.package)
        lines, seconds = self.known["lines"].get(str(path), {}), self.known["seconds"]
        at = range(mutant.lines[0], mutant.lines[1] + 1)
        found = {test for n in at for test in lines.get(str(n), ())}
        if not found:  # runs at import: whoever runs a line that names what it sets
            text = self.paths[mutant.module].read_text().split("\n")
            left = re.split("[:=]", text[at[0] - 1])[0]
            names = set(re.findall(r"\w+", left))
            found = {
                test
                for n, line in enumerate(text, 1)
                if names.intersection(re.findall(r"\w+", line))
                for test in lines.get(str(n), ())
            }
        if not found:  # or any of the module
            found = {test for tests in lines.values() for test in tests}
        before = self.noticed[mutant.module, mutant.function]
        folder = f"tests/{path.parent}/"
        mirror = f"{folder}test_{path.stem.strip('_')}.py"
        order = sorted(
            (test for test in found if seconds[test] < SLOWEST),
            key=lambda t: (
                -before[t],
                not t.startswith(mirror),
                not t.startswith(folder),
                seconds[t],
            ),
        )
        spent = np.cumsum([seconds[test] for test in order])
        return order[: np.searchsorted(spent, TOGETHER) + 1]


def noticed_by(mutant, path, items) -> str:
    """The first test that fails with the mutant, "" if all pass."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os._exit(_noticed(mutant, path, items, theirs))
    os.close(theirs)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(ours) as pipe:
        names = pipe.read().split("\n")
    return "" if code == 0 else names[-2] if len(names) > 1 else "import"


def _noticed(mutant, path, items, pipe):
    """Exit code of a child: 1 if a test notices; names of the tests go to a pipe."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        transplant(mutant.source(path.read_text()), path)
        for item, after in zip(items, [*items[1:], None], strict=True):
            os.write(pipe, f"{item.nodeid}\n".encode())
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if item.session.testsfailed:
                return 1
    except BaseException:
        return 1
    return 0


def transplant(source, path):
    """Let a loaded module compute what the source says, whoever imported from it."""
    name = next(
        name
        for name, module in sys.modules.items()
        if getattr(module, "__file__", None) == str(path)
    )
    old = sys.modules[name]
    new = types.ModuleType(name)
    new.__dict__.update(__file__=str(path), __package__=old.__package__)
    sys.modules[name] = new  # dataclasses look their module up
    try:
        exec(compile(source, str(path), "exec"), new.__dict__)
    finally:
        sys.modules[name] = old
    for key, value in list(vars(new).items()):
        before = vars(old).get(key)
        if getattr(value, "__module__", name) == name and not key.startswith("__"):
            if not _into(before, value) and isinstance(value, PLAIN):
                _everywhere(key, before, value)


def _everywhere(key, before, value):
    """Replace a constant in every module of the project that holds it."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if file.startswith(str(ROOT)) and vars(module).get(key) is before:
            setattr(module, key, value)


def _into(old, new) -> bool:
    """Change a function, class or table in place; False if it is none of these."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in new.items():
            if not _into(old.get(key), value) and isinstance(value, PLAIN):
                old[key] = value
        return True
    if isinstance(old, type) and isinstance(new, type):
        for key, value in list(vars(new).items()):
            if key in ("__dict__", "__weakref__", "__doc__", "__module__"):
                continue
            if not _into(vars(old).get(key), value):
                setattr(old, key, value)
        return True
    if is_dataclass(new) and not isinstance(new, type):  # an entry of a registry
        for part in fields(new):
            value = getattr(new, part.name)
            if not _into(getattr(old, part.name, None), value):
                if isinstance(value, PLAIN):
                    object.__setattr__(old, part.name, value)
        return True
    for wrapped in ("__func__", "__wrapped__", "func", "fget"):
        inner = getattr(old, wrapped, None)
        if isinstance(inner, types.FunctionType) and not isinstance(
            old, types.FunctionType
        ):
            return _into(inner, getattr(new, wrapped))
    if isinstance(old, types.FunctionType) and isinstance(new, types.FunctionType):
        if hasattr(old, "__wrapped__"):
            _into(old.__wrapped__, new.__wrapped__)
        if old.__code__.co_freevars != new.__code__.co_freevars:
            return False
        old.__code__ = new.__code__
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
        cells = zip(old.__closure__ or (), new.__closure__ or (), strict=True)
        for before, after in cells:  # what a decorator keeps
            if isinstance(before.cell_contents, types.FunctionType):
                if before.cell_contents is not old:
                    _into(before.cell_contents, after.cell_contents)
        return True
    return False


if __name__ == "__main__":
    package_, out, *tests_ = sys.argv[1:]
    Path(out).write_text(json.dumps(record(package_, tests_)))
