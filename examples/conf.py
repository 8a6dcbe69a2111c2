"""Sphinx's settings: ``python -m sphinx -W examples site`` builds the pages."""

import os
import pkgutil
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy loads
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import site_pages
from numpydoc.xref import DEFAULT_LINKS

import skauc

project = "skauc"
author = copyright = "The skauc developers"
version = release = skauc.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["GALLERY_HEADER.rst", "generated/scripts", "**/*.txt"]
exclude_patterns += ["generated/backreferences", "generated/gallery/*.ipynb"]
default_role = "code"
highlight_language = "python"
nitpicky = True
# Other packages' pages and the package's private folders have no page here.
folders = "|".join(m.name for m in pkgutil.iter_modules(skauc.__path__) if m.ispkg)
elsewhere = rf"(sklearn|scipy|numpy)\..*|skauc\.({folders})(\..*)?"
nitpick_ignore_regex = [("py:.*", elsewhere)]

toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"  # the docstrings name the types
numpydoc_show_class_members = False  # site_pages lists them
numpydoc_xref_param_type = True  # types that have a page lead to it
numpydoc_xref_aliases = {word: word for word in DEFAULT_LINKS}  # to other packages
numpydoc_xref_aliases |= {n: site_pages.full_name(n) for n in site_pages.public_names()}
numpydoc_xref_ignore = "all"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"skauc {release}"
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_theme_options = {
    "logo": {"text": "skauc"},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_prev_next": True,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "faq": [], "glossary": [], "coming_from": []}

sphinx_gallery_conf = {
    "examples_dirs": "generated/scripts",  # copies: scripts draw where they lie
    "gallery_dirs": "generated/gallery",
    "backreferences_dir": "generated/backreferences",
    "doc_module": ("skauc",),
    "filename_pattern": r"/plot_",
    "within_subsection_order": "site_pages.ByNumber",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}


def setup(app):
    """Write the generated pages before Sphinx and the gallery look for pages."""
    site_pages.write(HERE, HERE / "generated")
    app.connect("autodoc-process-docstring", site_pages.mend_docstring, priority=1)
    app.connect("autodoc-process-signature", site_pages.hide_signature)
    app.connect("build-finished", site_pages.check)
