"""The page's Jinja2 templates, rendered with autoescaping."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
ENVIRONMENT.filters["as_written"] = json.dumps  # a value in the notation of op.yml


def render(template: str, **values: Any) -> Markup:
    """Render a template of this folder; the result may be inserted into another one."""
    return Markup(ENVIRONMENT.get_template(template).render(values))
