"""MkDocs's hooks: add the pages and pictures that are made from the code."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.site import gallery, reference

_OPERATOR = re.compile(r"\[(\w+)\]\(\.\./operators/\w+\)")
# The theme lets pages in a folder load this; the site loads nothing from elsewhere.
_REMOTE_SCRIPT = re.compile(r'https://[^"]+/iframe-worker/shim')
_OWN_SCRIPT = "javascripts/file_worker.js"
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./(?!\w+\.md)([^)]*)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated files; a generated page takes the place of a file of its name."""
    for path, content in {**reference.pages(), **gallery.files()}.items():
        existing = files.get_file_from_path(path)
        if existing is not None:
            files.remove(existing)
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Point links to files outside of the site at the gallery, or leave their text."""
    in_gallery = _OPERATOR.sub(lambda link: f"[{link[1]}](gallery.md#{link[1].lower()})", markdown)
    return _OUTSIDE.sub(r"\1", in_gallery)


def on_post_page(output: str, page: Page, **_: Any) -> str:
    """Take the script of workers from the site itself."""
    return _REMOTE_SCRIPT.sub(get_relative_url(_OWN_SCRIPT, page.url), output)


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same for the page of unknown addresses, which has no address of its own."""
    return _REMOTE_SCRIPT.sub(f"/{_OWN_SCRIPT}", output_content)
