"""Which tests run a line, and whether they notice that it changed: a pytest plugin.

The tests are collected once. For each mutant the process forks; the child changes the
module in place and runs the tests that execute the changed line, the quickest first,
until one fails. Importing and collecting are so paid once, not once a mutant.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import types
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this package, whatever is installed
PLAIN = (int, float, tuple, np.ndarray)
SLOWEST = 10.0  # seconds: a test that runs longer is not asked
LONGEST = 120.0  # seconds of tests for one mutant


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


def judged(package, tests, known, mutants, paths) -> list:
    """The mutants that survive."""
    judge = Judge(package, known, mutants, paths)
    pytest.main([*tests, "-q", "-p", "no:cacheprovider"], plugins=[judge])
    return judge.alive


class Judge:
    """Plugin: instead of running the session, judge mutants in forked children."""

    def __init__(self, package, known, mutants, paths):
        self.package, self.known = Path(package), known
        self.mutants, self.paths, self.alive = mutants, paths, []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Judge all of them."""
        items = {item.nodeid: item for item in session.items}
        for mutant in self.mutants:
            path = self.paths[mutant.module]
            names = [
                name
                for name in self._tests(path, mutant)
                if name in items and self.known["seconds"][name] < SLOWEST
            ]
            if survives(mutant, path, [items[name] for name in names]):
                self.alive.append(mutant)
                print("lives:", *mutant.key, flush=True)
        return True

    def _tests(self, path, mutant):
        lines = self.known["lines"].get(str(path.relative_to(self.package)), {})
        first, last = mutant.lines
        found = {test for n in range(first, last + 1) for test in lines.get(str(n), ())}
        if not found:  # runs at import: whoever runs any line of the module
            found = {test for tests in lines.values() for test in tests}
        return sorted(found, key=self.known["seconds"].__getitem__)


def survives(mutant, path, items) -> bool:
    """Whether all tests pass with the mutant; endless ones do not."""
    child = os.fork()
    if not child:
        os._exit(_noticed(mutant, path, items))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _noticed(mutant, path, items):
    """Exit code of a child: 1 if a test notices."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(LONGEST))
    try:
        transplant(mutant.source, path)
        for item, after in zip(items, [*items[1:], None], strict=True):
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
