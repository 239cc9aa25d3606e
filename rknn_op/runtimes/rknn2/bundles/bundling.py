"""`rknn-op bundle`: several operators in one library, and a program that runs their model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT

from opkit import runtimes, toolchains
from opkit.common.code_layout import comment
from opkit.common.errors import OpkitError
from opkit.common.scratch import temporary_folder
from opkit.common.text import did_you_mean, printable, render, shortened
from opkit.description.describe import Target
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.runtimes.rknn2.chips import REFUSED_TARGETS, TARGETS
from opkit.runtimes.rknn2.describe import NAME, settings
from opkit.runtimes.rknn2.gpu_files import GPU
from opkit.toolchains import zig
from opkit.toolchains.abi import ABIS
from opkit.toolchains.compiler import archiver, first_program
from opkit.toolchains.elf import version_key
from opkit.toolchains.flags import C_LANGUAGE
from rknn_op.all_or_nothing import new_folder, refuse_existing
from rknn_op.messages import step
from rknn_op.own_opkit import require
from rknn_op.runtimes.rknn2.bundles.archives import defined_symbols, isolated, members
from rknn_op.scons_runs import Processes

MODEL = "model.rknn"
LIBRARY = "libcustom_ops.a"
_INCLUDE = Path(runtimes.__file__).parent / NAME / "include"
_COMPILE = ("-O2", "-g0", "-fPIC", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")
_OWN_OPTIONS = ("target", "abi")


@dataclass(frozen=True)
class Operator:
    """An operator of a bundle.

    Attributes:
        folder: its repository.
        spec: its description.
        op_type: its name in models.
    """

    folder: Path
    spec: OpSpec
    op_type: str


@dataclass(frozen=True)
class Plan:
    """The plan of a bundle.

    Attributes:
        operators: its operators.
        target: the chip.
        abis: the ABIs, the chip's default first.
        folder: the folder to make.
        model: the .rknn file to copy, or the .onnx file to convert; None: the bundle has no model.
        toolkit: the absolute path of the Python with RKNN-Toolkit2 for the conversion, or empty.
        options: of scons, such as `toolchain=gnu`.
    """

    operators: Sequence[Operator]
    target: Target
    abis: Sequence[str]
    folder: Path
    model: Path | None = None
    toolkit: str = ""
    options: Sequence[str] = ()

    def commands(self) -> list[list[str]]:
        """Return the arguments of scons in each repository, one list for each ABI."""
        return [[f"target={self.target.name}", f"abi={a}", *self.options] for a in self.abis]

    def oldest_runtime(self) -> str:
        """Return the oldest version of librknnrt for the chip and all operators."""
        versions = [settings(each.spec).oldest_runtime for each in self.operators]
        return max(*versions, self.target.needs.rpartition(" ")[2], key=version_key)


def plan(
    folders: Sequence[Path],
    target: str,
    abis: Sequence[str],
    folder: Path,
    model: Path | None = None,
    toolkit: Path | None = None,
    options: Sequence[str] = (),
) -> Plan:
    """Check the arguments of a bundle; return the plan.

    Args:
        folders: the repositories.
        target: the name of the chip.
        abis: the ABIs; empty: all of the chip.
        folder: the folder to make.
        model: as in Plan.
        toolkit: a Python with RKNN-Toolkit2, for an .onnx file.
        options: as in Plan.

    Raises:
        OpkitError: an argument or a repository cannot be used, or two of them do not fit.
    """
    refuse_existing(folder)
    chip = _target(target)
    for option in options:
        if option.partition("=")[0] in _OWN_OPTIONS:
            name = option.partition("=")[0]
            raise OpkitError(f"{option}: pass --{name} of `rknn-op bundle` instead")
        if option.partition("=")[0] == "os":
            raise OpkitError(
                f"{option}: a bundle is for Linux; for Android build each repository with "
                f"`rknn-op build -p DIR -t {target} -- os=android`"
            )
    python = _toolkit(model, toolkit)
    operators = [_operator(each) for each in folders]
    types: dict[str, Path] = {}
    for each in operators:
        other = types.setdefault(each.op_type, each.folder)
        if other is not each.folder:
            raise OpkitError(
                f"{other} and {each.folder} have the same op_type, {each.op_type}; "
                "librknnrt takes one operator of a type: pass one of them"
            )
    chosen = [abi for abi in chip.abis if abi in abis or not abis]
    return Plan(operators, chip, chosen, folder, model, python, options)


def _target(name: str) -> Target:
    if name in TARGETS:
        return TARGETS[name]
    if name in REFUSED_TARGETS:
        raise OpkitError(f"--target {name}: {REFUSED_TARGETS[name]}")
    for runtime in runtimes.available().values():
        if name in runtime.describe.targets:
            raise OpkitError(
                f"--target {name}: a target of {runtime.describe.title}; a bundle is for "
                f"RKNN-Toolkit2 (expected {', '.join(TARGETS)})"
            )
    hint = did_you_mean(name, TARGETS)
    raise OpkitError(
        f"--target: invalid {printable(shortened(name))!r} (expected {', '.join(TARGETS)})"
        + (f"; {hint}" if hint else "")
    )


def _toolkit(model: Path | None, toolkit: Path | None) -> str:
    """Return the path of the toolkit's Python; empty if the model needs no conversion.

    Raises:
        OpkitError: the model can be neither copied nor converted.
    """
    if model is None:
        if toolkit is not None:
            raise OpkitError("--toolkit converts a model; pass it with --model FILE.onnx")
        return ""
    name = printable(str(model))
    if model.suffix not in (".rknn", ".onnx"):
        raise OpkitError(f"--model {name}: invalid file name (expected *.rknn or *.onnx)")
    if not model.is_file():
        raise OpkitError(f"--model {name}: not found")
    if model.suffix == ".onnx" and toolkit is None:
        raise OpkitError(
            f"--model {name}: an .onnx file must be converted; pass --toolkit PYTHON, a Python "
            "with RKNN-Toolkit2"
        )
    if model.suffix == ".rknn" and toolkit is not None:
        raise OpkitError(f"--model {name}: already converted; --toolkit is for .onnx files")
    if toolkit is None:
        return ""
    python = first_program([str(toolkit)])
    if python is None:
        raise OpkitError(f"--toolkit {toolkit}: not a program (expected a Python)")
    return python


def _operator(folder: Path) -> Operator:
    require(folder)
    file = folder / "op.yml"
    spec = runtimes.parse(read_description(file), str(file))
    if NAME not in spec.runtimes:
        raise OpkitError(
            f"{file}: {spec.name} is for {', '.join(spec.runtimes)}, not for {NAME}; add {NAME} to "
            "`runtimes`"
        )
    return Operator(folder, spec, settings(spec).op_type)


def create(planned: Plan) -> list[str]:
    """Make the bundle of built repositories; return the paths of its files.

    Raises:
        OpkitError: a product cannot be used, the model is not converted, or the folder cannot be
            made.
    """
    names = {each.op_type: each.spec.lower for each in planned.operators}
    files = application_files(
        names, planned.target.name, planned.abis, MODEL, planned.oldest_runtime()
    )
    with Processes() as processes, temporary_folder() as scratch:
        for abi in planned.abis:
            for each in planned.operators:
                name = f"librkcst_{each.spec.lower}.so"
                files[f"plugins/{abi}/{name}"] = _product(planned, each, abi, name).read_bytes()
            with step(f"linking the operators for {abi}"):
                library = _library(processes, scratch / abi, planned, abi, files)
            files[f"lib/{abi}/{LIBRARY}"] = library
        if planned.model is not None:
            with step("converting the model"):
                files[MODEL] = _model(processes, scratch, planned, planned.model)
    with new_folder(planned.folder, files):
        return sorted(files)


def _product(planned: Plan, operator: Operator, abi: str, name: str) -> Path:
    return operator.folder / "build" / planned.target.folder(abi) / name


# ---- The static library --------------------------------------------------------------------------


def _library(
    processes: Processes, scratch: Path, planned: Plan, abi: str, files: Mapping[str, bytes]
) -> bytes:
    """Return the static library of all operators for an ABI.

    Raises:
        OpkitError: an archive cannot be read, or a tool fails.
    """
    scratch.mkdir()
    objects = ["custom_ops.o"]
    for each in planned.operators:
        lower = each.spec.lower
        archive = _product(planned, each, abi, f"lib{lower}_custom_op.a")
        try:
            own = {
                f"{lower}-{index}-{Path(member).name}": content
                for index, (member, content) in enumerate(members(archive.read_bytes()))
                if f"{lower}_register_all" not in defined_symbols(member, content)
            }
            entries = (f"{lower}_custom_op", f"{lower}_custom_op_of_cpu")
            own = isolated(own, entries, suffix=f".{lower}")
        except OpkitError as error:
            raise OpkitError(f"{archive}: {error}") from None
        for name, content in own.items():
            (scratch / name).write_bytes(content)
            objects.append(name)
    (scratch / "custom_ops.h").write_bytes(files["include/custom_ops.h"])
    source = registration([each.spec for each in planned.operators])
    (scratch / "custom_ops.c").write_text(source)
    options = dict(option.split("=", 1) for option in planned.options if "=" in option)
    places = (options.get("prefix", ""), options.get("sysroot", ""))
    compiler = toolchains.find(options.get("toolchain", "auto"), ABIS[abi], *places)
    compiling = (*C_LANGUAGE, *_COMPILE, f"-I{_INCLUDE}", "-c", "custom_ops.c")
    _run(processes, scratch, [*compiler.command, *compiler.flags, *compiling, "-o", objects[0]])
    _run(processes, scratch, [*archiver(compiler.command), "rcsD", LIBRARY, *objects])
    return (scratch / LIBRARY).read_bytes()


def _run(processes: Processes, folder: Path, command: Sequence[str]) -> None:
    environment = dict(os.environ)
    zig.provide_cache(environment, folder / "zig-cache")
    done = processes.run(command, folder, environment, PIPE, STDOUT)
    if done.returncode:
        raise OpkitError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")


# ---- The model -----------------------------------------------------------------------------------


def _model(processes: Processes, scratch: Path, planned: Plan, model: Path) -> bytes:
    """Return the model as .rknn: by the first repository's convert.py with the classes of all.

    Raises:
        OpkitError: RKNN-Toolkit2 does not convert the model.
    """
    if not planned.toolkit:
        return model.read_bytes()
    output = scratch / MODEL
    first, *others = planned.operators
    classes = [
        str(each.folder.absolute() / NAME / f"{each.spec.lower}_custom_op.py")
        for each in others
        if not settings(each.spec).is_standard  # the toolkit has its own, and takes no class
    ]
    script = first.folder.absolute() / NAME / "convert.py"
    command = [
        *(planned.toolkit, "-B", str(script), str(model.absolute())),
        *("--target", planned.target.name, "--output", str(output)),
        *(["--custom-op", *classes] if classes else ()),
    ]
    done = processes.run(command, scratch, os.environ, PIPE, STDOUT)
    if done.returncode or not output.is_file():
        last = (done.stdout.strip() or "no message").splitlines()[-1]
        raise OpkitError(
            f"{printable(str(model))}: not converted: {printable(last.removeprefix('error: '))}"
        )
    return output.read_bytes()


# ---- The texts: registration of the operators, example, its build, README ------------------------

_TEXTS = Path(__file__).parent
_TEMPLATES = _TEXTS / "templates"
_APPLICATION = _TEXTS / "application"


def application_files(
    operators: Mapping[str, str], target: str, abis: Sequence[str], model: str, runtime: str
) -> dict[str, bytes]:
    """Return path -> content of the header, the example, its build and the README.

    Args:
        operators: op_type -> lower-case name, of each operator.
        target: the chip.
        abis: the ABIs of the libraries, the default of the chip first.
        model: the name of the model's file.
        runtime: the oldest version of librknnrt for them.
    """
    names = ", ".join(operators)
    texts = {
        "include/custom_ops.h": render(
            _TEMPLATES / "custom_ops.h",
            about=comment(f"The custom operators {names}."),
        ),
        "README.md": render(
            _TEMPLATES / "README.md",
            names=names,
            target=target.upper(),
            abi=abis[0],
            others="".join(f" (or {abi})" for abi in abis[1:]),
            model=model,
            runtime=runtime,
        ),
    }
    unused = {f"{abi}.cmake" for abi in ABIS} - {f"{abi}.cmake" for abi in abis}
    copied = [
        path
        for path in sorted(_APPLICATION.rglob("*"))
        if path.is_file() and path.name not in unused
    ]
    return {
        **{name: text.encode() for name, text in texts.items()},
        **{path.relative_to(_APPLICATION).as_posix(): path.read_bytes() for path in copied},
    }


def registration(operators: Sequence[OpSpec]) -> str:
    """Return the C source that registers operators in one call."""
    names = [each.lower for each in operators]
    on_gpu = [index for index, each in enumerate(operators) if GPU in each.kernels]
    functions = [f"{name}_custom_op" for name in names]
    functions += [f"{names[index]}_custom_op_of_cpu" for index in on_gpu]
    call = f"rknn_register_custom_ops(context, operators, {len(names)})"
    status = f"    return {call};"
    if on_gpu:
        status = render(
            _TEMPLATES / "register_gpu.c",
            call=call,
            count=str(len(names)),
            copies="\n".join(
                f"        operators[{index}] = *{names[index]}_custom_op_of_cpu();"
                for index in on_gpu
            ),
        ).rstrip()
    return render(
        _TEMPLATES / "custom_ops.c",
        includes="#include <stdbool.h>\n#include <stdio.h>\n\n" if on_gpu else "",
        declarations="\n".join(f"rknn_custom_op *{function}(void);" for function in functions),
        count=str(len(names)),
        copies="\n".join(
            f"    operators[{index}] = *{name}_custom_op();" for index, name in enumerate(names)
        ),
        status=status,
    )
