"""Pages that the build makes: the reference, tables of results, changes, the house.

Nothing here is a list of names: the reference follows ``skauc.__all__`` and the
contents in ``skauc.__doc__``, the tables follow ``benchmarks/results``.
"""

import csv
import html
import inspect
import re
import shutil
from pathlib import Path
from urllib.parse import unquote

import skauc

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
RETURNED = "Results and displays"


class ByNumber:
    """Order of the gallery: plot_2 before plot_10."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name):
        """Return the number of a script, which sorts it."""
        number = re.search(r"plot_(\d+)", name)
        return int(number[1]) if number else 0


def write(source, made):
    """Write all generated pages and fragments below the folder ``made``."""
    for folder in ("reference", "scripts"):
        shutil.rmtree(made / folder, ignore_errors=True)
    pages = reference_pages()
    pages |= {f"tables/{name}.txt": text for name, text in result_tables().items()}
    pages |= {"changes.txt": changes(), "house.svg": house(), "bibtex.txt": bibtex()}
    for script in (*source.glob("plot_*.py"), source / "GALLERY_HEADER.rst"):
        pages[f"scripts/{script.name}"] = script.read_text(encoding="utf-8")
    for name, text in pages.items():
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def mend_docstring(app, what, name, target, options, lines):
    """Show ``(n_features_in_,)`` as a name; omit the private fields of a result."""
    lines[:] = [re.sub(r"(?<!`)\b(\w+_)(?=,\))", r"``\1``", line) for line in lines]
    private = [i for i, line in enumerate(lines) if re.match(r"_\w+ : ", line)]
    for i in reversed(private):
        rest = [k for k in range(i + 1, len(lines)) if lines[k][:1] != " "]
        del lines[i : rest[0] if rest else len(lines)]


def hide_signature(app, what, name, target, options, arguments, returns):
    """Return no signature for a class that users get, and do not make."""
    told = inspect.getdoc(target) or ""
    taken = "\nAttributes\n---" in told and "\nParameters\n---" not in told
    return ("", None) if what == "class" and taken else None


def check(app, exception):
    """Raise an error if a public name has no page, or a link inside the site no end."""
    if exception is None and app.builder.format == "html":
        site = Path(app.outdir)
        mend_ways_back(site)
        pages = site / "generated" / "reference"
        missing = [n for n in public_names() if not page_shows(pages, n)]
        if missing:
            raise RuntimeError(f"public names without a page: {', '.join(missing)}")
        broken = broken_links(site)
        if broken:
            raise RuntimeError("links without an end: " + "; ".join(broken[:20]))


def mend_ways_back(site):
    """Let sources lead back to ``skauc`` and ``skauc.results``, each for its names.

    viewcode knows one documented module for each file of source.
    """
    public = set(public_names())
    for page in (site / "_modules").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        text = re.sub(
            r"#skauc(?:\.results)?\.(\w+)",
            lambda way: "#" + full_name(way[1]) if way[1] in public else way[0],
            text,
        )
        page.write_text(text, encoding="utf-8")


def broken_links(site):
    """Return the links of all pages that end at no file, or at no place of a page."""
    pages = [p.resolve() for p in site.rglob("*.html") if "_static" not in p.parts]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    places = {p: set(re.findall(r'\bid="([^"]+)"', text)) for p, text in texts.items()}
    broken = []
    for page, text in texts.items():
        for link in set(re.findall(r'<a\b[^>]*\bhref="([^"]*)"', text)):
            link = html.unescape(link)
            path, _, place = link.partition("#")
            end = (page.parent / unquote(path)).resolve() if path else page
            found = unquote(place) in places.get(end, ()) if place else end.exists()
            if not (found or re.match(r"[a-z]+:", link)):
                broken.append(f"{page.relative_to(site.resolve())}: {link}")
    return broken


def page_shows(pages, name):
    """Return whether a page exists and holds the anchor of this public name."""
    path = pages / f"{name}.html"
    anchor = f'id="{full_name(name)}"'
    return path.exists() and anchor in path.read_text(encoding="utf-8")


def public_names():
    """Return the public names, with those of ``skauc.results`` if it exists."""
    return sorted({*skauc.__all__, *skauc.results.__all__})


def module(name):
    """Return the module from which users import a public name."""
    return "skauc" if hasattr(skauc, name) else "skauc.results"


def full_name(name):
    """Return a public name with its module."""
    return f"{module(name)}.{name}"


def public(name):
    """Return the object that a public name stands for."""
    return getattr(skauc if hasattr(skauc, name) else skauc.results, name)


# ---- Reference --------------------------------------------------------------------


def contents():
    """Return ``{task: names}`` as in ``help(skauc)``, completed by their neighbours."""
    names, tasks, task = set(public_names()), {}, None
    text = skauc.__doc__.partition("Contents by task")[2].partition("**")[0]
    for line in text.splitlines():
        if re.match(r"\w", line):
            task = line
        elif line.startswith("    ") and task:
            head = re.split(r"  +", line.strip())[0]
            tasks.setdefault(task, []).extend(
                name for name in re.findall(r"\w+", head) if name in names
            )
    listed = {name: task for task, group in tasks.items() for name in group}
    modules = {inspect.getmodule(public(n)): t for n, t in reversed(listed.items())}
    for name in sorted(names - set(listed)):
        function = not inspect.isclass(public(name))
        task = modules.get(inspect.getmodule(public(name))) if function else None
        ready_made = name.removeprefix("make_")
        group = tasks.setdefault(listed.get(ready_made, task) or RETURNED, [])
        place = group.index(ready_made) + 1 if ready_made in group else len(group)
        group.insert(place, name)
    return tasks


def reference_pages():
    """Return ``{path: text}`` of one page for each public name, and their index."""
    index = [*title("Reference"), "All public names, by task.", ""]
    pages = {}
    for task, names in contents().items():
        index += [*title(task, "-"), ".. list-table::", "   :widths: 35 65", ""]
        for name in names:
            index += [f"   * - :doc:`{name}`", f"     - {summary(name)}"]
            pages[f"reference/{name}.rst"] = reference_page(name)
        index += ["", ".. toctree::", "   :hidden:", "", *(f"   {n}" for n in names)]
        index += [""]
    pages["reference/index.rst"] = "\n".join(index)
    return pages


def reference_page(name):
    """Return the page of a public name: its docstring and those of its methods."""
    target = public(name)
    kind = "class" if inspect.isclass(target) else "function"
    page = [*title(name), f".. currentmodule:: {module(name)}", ""]
    if kind == "class":
        kind = "exception" if issubclass(target, BaseException) else "class"
    elif not callable_in_source(target):
        page += [f".. py:function:: {signature(target, name)}", ""]
        page += [f"   {summary(name)}", "", *numpydoc_text(target, name)]
        kind = None
    if kind:
        page += [f".. auto{kind}:: {name}", ""]
    if kind == "class":
        members = own_members(target)
        for heading, directive in (("Attributes", "property"), ("Methods", "method")):
            found = [n for n, member in members.items() if kind_of(member) == directive]
            if found:
                page += [f".. rubric:: {heading}", ""]
                page += [f".. auto{directive}:: {name}.{n}" for n in found] + [""]
        page += inherited(target, members)
    page += [
        "",
        f".. minigallery:: skauc.{name}",
        "   :add-heading: Examples that use it",
    ]
    return "\n".join([*page, "   :heading-level: -", ""])


def own_members(target):
    """Return the documented public members of a class that this package defines."""
    members = {}
    for base in target.__mro__:
        if base.__module__.split(".")[0] == "skauc":
            for name, member in vars(base).items():
                told = inspect.getdoc(getattr(member, "__func__", member))
                if name[0] != "_" and kind_of(member) and told:
                    members.setdefault(name, member)
    return dict(sorted(members.items()))


def kind_of(member):
    """Return "property", "method" or None."""
    if isinstance(member, classmethod | staticmethod) or hasattr(member, "check"):
        return "method"  # or one that is available if a check passes
    if inspect.isfunction(member):
        return "method"
    lazy = hasattr(member, "func") and hasattr(member, "attrname")
    return "property" if isinstance(member, property) or lazy else None


def inherited(target, members):
    """Return what the methods do that scikit-learn gives a class."""
    if not any(base.__module__.startswith("sklearn") for base in target.__mro__):
        return []
    rest = [
        f"- ``{name}``: {first_paragraph(getattr(target, name))}"
        for name in dir(target)
        if name[0] != "_" and name not in members and callable(getattr(target, name))
    ]
    return [".. rubric:: Methods that scikit-learn defines", "", *rest, ""]


def signature(target, name):
    """Return the call of an object, such as a scorer, as the docstring writes it."""
    return f"{name}{inspect.signature(target)}"


def numpydoc_text(target, name):
    """Return the docstring of an object that is no function, as lines below it."""
    from numpydoc.docscrape_sphinx import SphinxDocString

    text = str(SphinxDocString(inspect.getdoc(target)))
    return [f"   {line}".rstrip() for line in text.splitlines()]


def summary(name):
    """Return the first sentence about a public name, in one line."""
    ready_made = not callable_in_source(public(name))
    return first_paragraph(public(f"make_{name}" if ready_made else name))


def first_paragraph(target):
    """Return the first paragraph of a docstring, in one line and without links."""
    text = " ".join(inspect.getdoc(target).partition("\n\n")[0].split())
    return re.sub(r":\w+:`([^`<]+?)(?: <[^>]*>)?`", r"\1", text)


def callable_in_source(target):
    """Return whether an object is a function or class, unlike a ready-made scorer."""
    return inspect.isfunction(target) or inspect.isclass(target)


def title(text, line="="):
    """Return a heading, as lines."""
    return [text, line * len(text), ""]


# ---- Tables of results ------------------------------------------------------------


def rows_of(name):
    """Return the rows of a csv of results; its comment line names the versions."""
    with open(RESULTS / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if line[0] != "#"))


def made_with(name):
    """Return the versions and the processor that made a csv of results."""
    with open(RESULTS / f"{name}.csv", encoding="utf-8") as file:
        return re.sub(r"commit \w+, ", "", file.readline().strip("# \n"))


def table(header, rows):
    """Return a list-table."""
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [header, *rows]:
        marks = ["*"] + [" "] * (len(row) - 1)
        lines += [f"   {m} - {cell}" for m, cell in zip(marks, row, strict=True)]
    return "\n".join([*lines, ""])


def two(text):
    """Return a number with two decimals, and a dash for none."""
    return f"{float(text):.2f}" if text else "–"


def result_tables():
    """Return all fragments that the page "how good, how fast" includes."""
    tables = {
        "panel": panel_table(),
        "random_labels": table(
            ["model", "skauc reports", "5-fold CV", "interval contains ½"],
            [
                [r["model"], two(r["mean"]), two(r["CV mean"]), two(r["covers"])]
                for r in rows_of("null/null")
            ],
        ),
        "best": table(
            ["P(best) said", "candidates", "share that were the best"],
            [
                [two(r["said"]), r["candidates"], f"{two(r['share'])} ± {two(r['SE'])}"]
                for r in rows_of("search/reliability")
                if r["data"] == "real"
            ],
        ),
        "intervals": interval_table(),
    }
    for name in ("headline", "text"):
        tables[name] = speed_table(f"speed/{name}")
    for name in ("intervals", "estimators"):
        tables[f"speed_{name}"] = speed_table(f"speed/{name}")
    tables["made_with"] = made_with("panel/panel_pooled") + "\n"
    return tables


def panel_table():
    """Return the error of a report and how often its interval holds the truth."""
    names = {"l2": "L2", "hinge": "hinge", "l1": "L1", "kbest": "SelectKBest"}
    cells = {
        (r["group"], r["models"]): f"{two(r['MAE/CV'])} ({two(r['covers'])})"
        for r in rows_of("panel/panel_pooled")
    }
    groups = list(dict.fromkeys(group for group, _ in cells))
    rows = [[n, *(cells.get((g, k), "–") for g in groups)] for k, n in names.items()]
    return table(["model", *groups], rows)


def interval_table():
    """Return the coverage of the intervals of an AUC."""
    rows = [
        [
            f"``{r['method']}``" + (f", {r['transform']}" if r["transform"] else ""),
            *map(two, (r["least coverage"], r["mean"], r["mean width"])),
        ]
        for r in rows_of("intervals/methods")
    ]
    return table(["method, transform", "worst design", "mean", "mean width"], rows)


def speed_table(name):
    """Return the times of a group of tasks beside those of a named peer."""
    rows = [
        [r["what"], size(r["n"], r["P"]), r["peer"], two(r["ratio"])]
        for r in rows_of(name)
    ]
    return table(["task", "rows × columns", "compared with", "ratio of times"], rows)


def size(n, P):
    """Return numbers of rows and columns; of a single column the rows alone."""
    return f"{int(n):,} × {int(P):,}" if P != "1" else f"{int(n):,}"


# ---- Changes and the house --------------------------------------------------------


def changes():
    """Return README's section "Changes" as reStructuredText."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = readme.partition("\n## Changes\n")[2]
    text = re.split(r"\n## |\nBSD-3-Clause", text)[0]
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text)
    return re.sub(r"`([^`]+)`", r"``\1``", text).strip() + "\n"


def bibtex():
    """Return the entry by which to cite this version of the package."""
    entry = [
        "@software{skauc,",
        "  title   = {skauc: choose, compare and report classifiers by their ROC AUC},",
        "  author  = {{The skauc developers}},",
        f"  version = {{{skauc.__version__}}},",
        "}",
    ]
    return "\n".join([".. code-block:: bibtex", "", *(f"   {x}" for x in entry), ""])


def house():
    """Return a picture of the folders, floor above floor, from ``skauc.__doc__``."""
    text = skauc.__doc__.partition("its own::")[2]
    floors = re.findall(r"^ {4}(\S.*?)  +(.*)$", text, re.MULTILINE)
    width, height = 760, 46 * len(floors) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        ' font-family="sans-serif" font-size="14">'
    ]
    for i, (names, purpose) in enumerate(floors):
        rooms, y = names.split(" | "), 46 * i + 4
        side = 400 / len(rooms)
        for k, room in enumerate(rooms):
            x = k * side + 2
            parts += [
                f'<rect x="{x:.0f}" y="{y}" width="{side - 4:.0f}" height="30" rx="4"'
                ' fill="#d7e8f5" stroke="#0072B2"/>',
                f'<text x="{x + side / 2 - 2:.0f}" y="{y + 20}" text-anchor="middle"'
                f' fill="#111">{room.strip()}</text>',
            ]
        parts += [f'<text x="412" y="{y + 20}" fill="#777">{purpose}</text>']
        if i + 1 < len(floors):
            arrow = f"M200 {y + 31} v10 m-4 -4 l4 5 l4 -5"
            parts += [f'<path d="{arrow}" fill="none" stroke="#0072B2"/>']
    return "\n".join([*parts, "</svg>", ""])
