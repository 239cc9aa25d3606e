"""`rknn-op import`: convert a repository of the vendor's tool."""

from __future__ import annotations

import os
import posixpath
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from opkit import runtimes
from opkit.common.errors import OpkitError
from opkit.common.text import aligned, shortened
from opkit.description.build_keys import path_problem
from opkit.description.file import read_description
from opkit.description.spec import OpSpec
from opkit.files.skeletons import once_only_files
from opkit.repository import refuse_folder_name
from opkit.runtimes.rknn.settings import KERNELS, NAME, settings
from rknn_op import all_or_nothing, template
from rknn_op.creation import new_repository
from rknn_op.creation.description_schema import with_schema
from rknn_op.runtimes.rknn.vendor import imported_files
from rknn_op.runtimes.rknn.vendor.kernel_files import KernelFile, empty_kernel, includes
from rknn_op.runtimes.rknn.vendor.order import GROUPS, in_order
from rknn_op.runtimes.rknn.vendor.python_class import Converter, read_converter
from rknn_op.runtimes.rknn.vendor.vendor_folder import VendorFile, VendorFolder, listed, show

MAX_HEADERS = 64
_PROVIDED = template.OPKIT / "runtimes" / NAME / "include", template.OPKIT / "opencl/prelude"
"""The folders of the headers that every repository of rknn-op has."""


@dataclass
class Import:
    """The plan of an import.

    Attributes:
        spec: the operator, in the order of its kernel.
        folder: the vendor's repository, as its path in messages.
        description: the text of op.yml.
        files: path -> content of the files that differ from a new repository's.
        taken: path -> its origin, in words.
        warnings: the points to review, each with file:line.
        leftover: the names of the ignored files, without the makefiles, which are generated.
        empty_vx: file:line of a VX kernel without a statement, which is left out.
    """

    spec: OpSpec
    folder: str
    description: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    leftover: list[str] = field(default_factory=list)
    empty_vx: str = ""

    def keep(self, path: str, file: VendorFile) -> None:
        """Copy a file unchanged."""
        self.files[path] = file.data
        self.taken[path] = "as it is" if file.name == path else f"{file.name}, as it is"


def plan(source: Path) -> Import:
    """Return the plan of an import; write nothing.

    Args:
        source: the folder of the vendor's tool.

    Raises:
        OpkitError: it is not such a folder, or its description is invalid.
    """
    if _is_file(source):
        raise OpkitError(
            f"{show(source)} is not a folder; a package has no C sources, `rknn-op inspect` shows "
            "its contents"
        )
    folder = VendorFolder(source)
    description = _description(folder)
    spec = runtimes.parse(read_description(source / description), f"{folder.label}/{description}")
    if spec.runtimes != (NAME,) or spec.sources or spec.include:
        raise OpkitError(
            f"{folder.label}/{description}: has `runtimes`, `sources` or `include`, which the "
            "vendor's tool does not know; `rknn-op create -c` takes it"
        )
    wanted = f"rknn_kernel_{spec.lower}.c"
    name = folder.find(wanted)
    if name is None:
        raise OpkitError(
            f"{folder.label}: {wanted} not found, the kernels of the operator {spec.name} of its "
            f"op.yml; it has: {folder.listing()}. For a new operator of that description: "
            f"`rknn-op create -c {folder.label}/op.yml`"
        )
    kernel = KernelFile(folder.read(name))
    result = Import(spec, folder.label)
    lines = _lines(folder, description)
    result.spec, result.warnings = in_order(spec, kernel, lines, _vx_file(folder, spec))
    converter = _add_converter(result, folder)
    _add_kernels(result, folder, kernel)
    quiet = (
        *imported_files.QUIET,
        *([imported_files.NO_SHIFT_REPORT] if kernel.shift_of_sign else []),
    )
    cflags = tuple(dict.fromkeys((*spec.cflags, *quiet)))
    sources = converter.sources if converter else {}
    params = []
    for param in result.spec.params:
        # The class takes it from a constant: `source`.
        constants = sources[param.name].constants if param.name in sources else ()
        origin = f"const:{constants[0]}" if len(constants) == 1 else ""
        is_usable = origin.isprintable() and origin[6:] and not any(map(str.isspace, origin))
        params.append(param._replace(source=param.source or origin) if is_usable else param)
    result.spec = result.spec._replace(params=tuple(params), cflags=cflags)
    _add_texts(result, kernel, converter)
    used = {description}  # as the folder spells them
    for path in (*result.files, f"rknn_op_{spec.lower}.py"):
        used.add(path.partition("/")[0] if "/" in path else folder.find(path) or path)
    result.leftover = [
        name for name in folder.names if name not in used and not name.startswith("makefile.linux.")
    ]
    return result


def make(planned: Import, folder: Path) -> None:
    """Make the repository atomically.

    Raises:
        OpkitError: the folder exists or cannot be made.
    """
    text = with_schema(planned.description.rstrip())
    new_repository.create(new_repository.Plan(planned.spec, text, folder, planned.files))


def destination(path: Path, folder: Path | None) -> Path:
    """Return the folder of the new repository.

    Args:
        path: the vendor's repository.
        folder: the requested folder, or None.

    Raises:
        OpkitError: it exists, is inside the vendor's repository, or has an invalid name.
    """
    old = Path(os.path.abspath(path))  # noqa: PTH100  resolve() would follow links
    new = folder or Path(os.path.relpath(old.parent / f"{old.name}_imported"))
    real_old, real_new = (Path(os.path.realpath(each)) for each in (path, new))
    if real_new.is_relative_to(real_old):
        raise OpkitError(f"{show(new)} is in {show(path)}, which stays as it is; pass another -p")
    refuse_folder_name(new.absolute().name)
    all_or_nothing.refuse_existing(new)
    return new


def report(planned: Import, folder: Path, dry_run: bool) -> str:
    """Return the report: origins of the files, warnings and next steps."""
    spec = planned.spec
    verb = "would be imported" if dry_run else "imported"
    lines = [f"{spec.name}, {verb} from {planned.folder} into {show(folder)}", "", "Taken:"]
    rows = [(f"  {path}", source) for path, source in planned.taken.items()]
    lines += aligned(rows).splitlines()
    if planned.leftover:
        lines += ["", f"Not taken: {listed(planned.leftover)}"]
    if planned.warnings:
        lines += ["", "Warnings:", *(f"  {warning}" for warning in planned.warnings)]
    steps = [
        f"cd {shlex.quote(show(folder))}",
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.lock && .venv/bin/scons",
        *(["resolve the warnings above"] if planned.warnings else []),
        f"write {spec.lower}_reference.py: until then every check fails",
        f"give tests/test_{spec.lower}.py the shapes and params that the operator takes, and a "
        "max_ulp",
        ".venv/bin/scons check",
    ]
    lines += ["", "Next:", *(f"  {index}. {step}" for index, step in enumerate(steps, 1))]
    return "\n".join(lines) + "\n"


def _description(folder: VendorFolder) -> str:
    """Return the name of op.yml; refuse other folders than those of the vendor's tool."""
    if {"SConstruct", "generated"} <= {*folder.names}:
        raise OpkitError(
            f"{folder.label} is a repository of rknn-op already; `rknn-op update` brings it to "
            "this version"
        )
    name = folder.find("op.yml")
    if name is None:
        raise OpkitError(
            f"{folder.label} is not a repository of the vendor's tool: op.yml not found; it has: "
            f"{folder.listing()}"
        )
    folder.read(name)  # refuses a link out of the folder, and other things than files
    return name


def _vx_file(folder: VendorFolder, spec: OpSpec) -> VendorFile | None:
    name = folder.find(f"rknn_kernel_{spec.lower}.vx")
    return folder.read(name) if name is not None else None


def _lines(folder: VendorFolder, name: str) -> dict[str, str]:
    """Return file:line of each group of parameters."""
    root = yaml.compose(read_description(folder.path / name), Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # other descriptions have been refused
    return {
        key.value: f"{folder.label}/{name}:{key.start_mark.line + 1}"
        for key, _ in root.value
        if key.value in (*GROUPS, "kernel_index")
    }


def _add_kernels(result: Import, folder: VendorFolder, kernel: KernelFile) -> None:
    """Copy the C and VX files and their headers; set the kernels of the operator."""
    spec = result.spec
    result.keep(f"rknn_kernel_{spec.lower}.c", kernel.file)
    found = kernel.kernel_list
    wanted = f"vx_kernel_{spec.name}_list"
    if found is None:
        result.warnings.append(
            f"{kernel.file.label}:1: {wanted} not found, which the runtime looks up"
        )
    elif found[0] != wanted:
        result.warnings.append(f"{found[1]}: {found[0]}, but the runtime looks up {wanted}")
    files = [kernel.file]
    vx_file = _vx_file(folder, spec)
    if vx_file is not None and (where := empty_kernel(vx_file)):
        result.empty_vx = where
        result.warnings.append(
            f"{where}: the VX kernel has no statement, so it was left out, and op.yml has "
            "`kernels: [cpu]`; to write one, add vx there: `scons` makes a .vx file to start from"
        )
        vx_file = None
    if vx_file is not None:
        files.append(vx_file)
        result.keep(f"rknn_kernel_{spec.lower}.vx", vx_file)
    has_vx = vx_file is not None and (found is None or found[2] > 1)
    if vx_file is not None and not has_vx and found is not None:
        result.warnings.append(
            f"{found[1]}: {found[0]} has one kernel, so rknn_kernel_{spec.lower}.vx is not run; "
            "add its description, and `kernels: [cpu, vx]` to op.yml"
        )
    chosen = settings(spec)
    if chosen.kernel_index == 1 and not has_vx:
        where = _lines(folder, _description(folder)).get("kernel_index", folder.label)
        raise OpkitError(
            f"{where}: kernel_index: 1 is the VX kernel, but the folder has none: no "
            f"rknn_kernel_{spec.lower}.vx with a statement, or a kernel list without it; write "
            "`kernel_index: 0`"
        )
    result.spec = spec._replace(kernels=KERNELS if has_vx else KERNELS[:1])
    _add_headers(result, folder, files)


def _add_headers(result: Import, folder: VendorFolder, files: list[VendorFile]) -> None:
    """Copy the headers that files include, and theirs in turn, if the folder has them."""
    reserved = {  # the files and folders that every new repository has
        *(path.split("/")[0] for path in template.files()),
        *("op.yml", ".cruft.json", "generated", "tests", "build"),
        *once_only_files(result.spec, runtimes.selected(result.spec)),
    }
    count = 0
    for file in files:  # to which the loop adds the headers
        for text, where in includes(file):
            # Beside the including file, or in the root, which is an include folder of the build.
            places = (posixpath.join(posixpath.dirname(file.name), text), text)
            paths = [posixpath.normpath(place) for place in places]
            path = next((path for path in paths if _is_file(folder.path / path)), paths[0])
            problem = path_problem(text)
            if not problem and (
                path in result.files or any(_is_file(each / text) for each in _PROVIDED)
            ):
                continue
            count += 1
            if count > MAX_HEADERS:
                raise OpkitError(f"{file.label}: includes more than {MAX_HEADERS} headers")
            named = f"{where}: '{shortened(show(text))}'"
            if problem:
                result.warnings.append(f"{named} was not taken: it {problem}")
            elif path in reserved or path.split("/")[0] in reserved:
                problem = "a new repository has one of its own"
                result.warnings.append(f"{named} was not taken: {problem}")
            elif not _is_file(folder.path / path):
                result.warnings.append(f"{named} not found in {folder.label}")
            else:
                header = folder.read(path)
                result.keep(path, header)
                files.append(header)


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113  is_file() raises if the name is too long


def _add_converter(result: Import, folder: VendorFolder) -> Converter | None:
    """Return the readable parts of the Python class; warn of contradictions to op.yml."""
    spec = result.spec
    wanted = f"rknn_op_{spec.lower}.py"
    name = folder.find(wanted)
    if name is None:
        result.warnings.append(
            f"{folder.label}: {wanted} not found; the reference gets no comments"
        )
        return None
    converter = read_converter(folder.read(name))
    if isinstance(converter, str):
        result.warnings.append(f"{converter}; nothing was taken from it")
        return None
    result.taken[f"{spec.lower}_reference.py"] = (
        f"to be written; the methods of {show(name)} are comments in it"
    )
    warn = result.warnings.append
    if converter.operator not in (None, spec.name):
        warn(
            f"{converter.where}: op is '{show(str(converter.operator))}', but op.yml has "
            f"`name: {spec.name}`; nodes of the type {spec.name} are converted now"
        )
    for ports, tensors in (("def_input", spec.inputs), ("def_output", spec.outputs)):
        count = converter.ports.get(ports, len(tensors))
        if count != len(tensors):
            warn(f"{converter.where}: {ports} has {count} ports, op.yml {len(tensors)}")
    names = [param.name for param in spec.params]
    for param, source in converter.sources.items():
        if param not in names:
            warn(f"{source.where}: sets the param '{show(param)}', which op.yml does not have")
        elif [*source.attributes] not in ([], [param]):
            others = ", ".join(map(show, source.attributes))
            warn(
                f"{source.where}: {param} is the node's attribute {others}; an attribute of "
                f"another name needs params_from_tf in {spec.lower}_reference.py"
            )
    return converter


def _add_texts(result: Import, kernel: KernelFile, converter: Converter | None) -> None:
    """Write op.yml and the files that differ from a new repository's."""
    spec = result.spec
    places = map(posixpath.basename, (result.empty_vx, kernel.shift_of_sign))
    result.description = imported_files.description(spec, *places)
    assert runtimes.parse(result.description, "op.yml") == spec
    result.taken = {"op.yml": "with the order of the kernel", **result.taken}
    once = once_only_files(spec, runtimes.selected(spec))
    unchanged = [path for path, data in result.files.items() if b"\r" in data]
    compute, tests = f"{spec.lower}_compute.h", f"tests/test_{spec.lower}.py"
    conversion = kernel.half_conversion
    if conversion:
        result.taken[tests] = f"with max_ulp=1 and no special values, because of {conversion}()"
    texts = {
        f"{spec.lower}_reference.py": imported_files.reference(spec, converter),
        compute: imported_files.compute(spec, once[compute]),
        tests: imported_files.case_file(spec, conversion),
        ".gitattributes": imported_files.attributes(once[".gitattributes"], unchanged),
    }
    for path, text in texts.items():
        result.files[path] = text.encode()
