"""The page's Jinja2 templates, rendered with autoescaping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["as_written"] = json.dumps  # a value as op.yml has it


def render(template: str, **values: Any) -> Markup:
    """Return a rendered template of this folder; it may be inserted into another one."""
    return Markup(_ENVIRONMENT.get_template(template).render(values))
