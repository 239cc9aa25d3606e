"""The registration with ppl.nn: lines for its own files, or sources beside them."""

from __future__ import annotations

from opkit.code_layout import block_comment, wrapped
from opkit.description.spec import OpSpec
from opkit.runtimes.pplnn.describe import settings
from opkit.runtimes.pplnn.tree_names import ENGINES, names
from opkit.text import render


def key(spec: OpSpec) -> str:
    """Return the unique name of the operator: the domain and the type of its nodes."""
    return f"{settings(spec).domain}.{spec.name}".lstrip(".")


def function(spec: OpSpec) -> str:
    """Return the name of the registration function, the same for each table."""
    return f"Register_{_identifier(spec)}"


def parser_lines(spec: OpSpec) -> tuple[list[str], list[str]]:
    """Return the lines for param_parser_manager.cc: includes, and the parser's registration."""
    where = _where(spec)
    if not spec.params:
        return [], [f"    PPL_REGISTER_OP_WITHOUT_PARAM({where}, nullptr);"]
    called = names(spec)
    headers = [f'#include "{path}.h"' for path in (called.param, called.parser)]
    parts = (f"{called.title}Param", f"Parse{called.title}Param", f"Pack{called.title}Param")
    entry = ", ".join(f"ppl::nn::{called.folder}::{part}" for part in parts)
    return headers, [f"    PPL_REGISTER_OP_WITH_PARAM({where}, {entry});"]


def engine_lines(spec: OpSpec, engine: str) -> tuple[list[str], list[str]]:
    """Return the lines for riscv_ops.cc or x86_ops.cc: includes, and the op's registration."""
    called = names(spec)
    header = f'#include "{called.op(engine)}.h"'
    op = f"{called.folder}::{called.title}Op"
    return [header], [f"    RegisterOptKernelCreator<{op}>({_where(spec)});"]


def registration_sources(spec: OpSpec) -> dict[str, str]:
    """Return path -> text of the sources that register the operator without ppl.nn's files."""
    called = names(spec)
    common = {
        "identifier": _identifier(spec),
        "space": called.folder,
        "title": called.title,
    }
    sources = {
        f"pplnn/register/{engine}.cc": render(
            "runtimes/pplnn/templates/register_engine.cc",
            about=_about(spec, f"operators of the {engine} engine"),
            engine=engine,
            base=f"{engine.capitalize()}OptKernel",
            header=f"{called.op(engine)}.h",
            register=_register(spec, "OptKernelCreatorManager", f"Create_{_identifier(spec)}"),
            **common,
        )
        for engine in ENGINES
    }
    sources["pplnn/register/onnx.cc"] = render(
        "runtimes/pplnn/templates/register_onnx.cc"
        if spec.params
        else "runtimes/pplnn/templates/register_onnx_no_params.cc",
        about=_about(spec, "ppl.nn's ONNX importer"),
        param_header=f"{called.param}.h",
        parser_header=f"{called.parser}.h",
        register=_register(spec, "ParamParserManager", "info"),
        **common,
    )
    return sources


def _identifier(spec: OpSpec) -> str:
    """Return the key as a part of C++ names."""
    called = names(spec)
    return f"{called.folder}_{called.title}"


def _about(spec: OpSpec, table: str) -> str:
    return block_comment(
        f"Enters {spec.name} into the table of {table} without a change to ppl.nn: pplnn/cmake/ "
        "adds this file to ppl.nn's build, and a RegisterResourcesOnce() that calls the function."
    )


def _register(spec: OpSpec, table: str, entry: str) -> str:
    """Return the statement that enters the operator into a table."""
    domain, (first, last) = settings(spec).domain, settings(spec).opset
    return wrapped(
        f"    return {table}::GetInstance()->Register(",
        [f'"{domain}"', f'"{spec.name}"', f"nn::utils::VersionRange({first}, {last})", entry],
        ");",
    )


def _where(spec: OpSpec) -> str:
    """Return the first arguments of ppl.nn's own registrations."""
    domain, (first, last) = settings(spec).domain, settings(spec).opset
    return f'"{domain}", "{spec.name}", {first}, {last}'
