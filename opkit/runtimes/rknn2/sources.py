"""The operator's own C and C++ sources."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.errors import OpkitError


def operator_sources(spec: OpSpec) -> list[str]:
    """Return the paths of the common sources of plugins and applications.

    Raises:
        OpkitError: op.yml lists a generated file, which is compiled anyway.
    """
    own = [f"rknn2/{spec.lower}_custom_op.c"]
    generated = [*own, *plugin_sources(spec), *application_sources()]
    for source in spec.sources:
        if source.path in generated:
            raise OpkitError(
                f"{source.where}: {source.path} is compiled anyway; delete it from the list"
            )
    return [*own, *(source.path for source in spec.sources)]


def plugin_sources(spec: OpSpec) -> list[str]:
    """Return the paths of the plugin's own sources."""
    return [f"rknn2/{spec.lower}_plugin.c"]


def application_sources() -> list[str]:
    """Return the paths of the applications' own sources."""
    return ["rknn2/register_all.c"]
