"""The kernels of a `.vx` source, and what the preprocessor has to be given of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from opkit.errors import OpkitError

_QUALIFIERS = frozenset(
    "__read_only read_only __write_only write_only __read_write read_write __global global "
    "__constant constant __private private const volatile restrict __restrict".split()
)
_IMAGES = frozenset("image1d_t image1d_array_t image2d_t image2d_array_t image3d_t".split())
_SCALARS = frozenset(("int", "uint", "unsigned int", "unsigned", "float", "bool"))
_BARRIERS = ("barrier", "wait_group_events")
_KERNEL = re.compile(
    r"\b(?:__kernel|kernel)\s+(?P<attributes>(?:__attribute__\s*\(\(.*?\)\s*\)\s*)*)"
    r"void\s+(?P<more>(?:__attribute__\s*\(\(.*?\)\s*\)\s*)*)"
    r"(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)\s*\{",
    re.DOTALL,
)
_FUNCTION = re.compile(r"\b(\w+)\s*\([^(){};]*\)\s*\{")
_GROUP = re.compile(r"reqd_work_group_size\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)")
_UNIFORM = re.compile(r"\b_viv_uniform\s+\w+\s+([^;]+);")
_LOCAL_POINTER = re.compile(
    r"\b(?:__local|local)\b(?=(?:\s+(?:const|volatile|unsigned|signed))*\s+\w+(?:\s+const)?\s*\*)"
)


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of a VX kernel.

    Attributes:
        kind: `tensor`, `array`, `scalar`, or `pointer` (to a scalar).
        type: as the source writes it, without qualifiers.
        name: its name.
    """

    kind: str
    type: str
    name: str


@dataclass(frozen=True)
class VxKernel:
    """A kernel of a `.vx` source.

    Attributes:
        name: its name.
        parameters: in order.
        group: what reqd_work_group_size asks for, or None.
        barrier: whether its source waits at a barrier.
        uniforms: the _viv_uniform variables that it uses.
    """

    name: str
    parameters: tuple[KernelParameter, ...]
    group: tuple[int, int, int] | None
    barrier: bool
    uniforms: tuple[str, ...]


def without_local_pointers(source: str) -> str:
    """Return the source without `__local` in front of a pointer; every line and column stays.

    A variable in local memory is a static one on the PC, a pointer into it is a plain pointer.
    """
    return _LOCAL_POINTER.sub(lambda found: " " * len(found[0]), source)


def kernels(preprocessed: str, file: str) -> dict[str, VxKernel]:
    """Return the kernels of a preprocessed source by name, in the order of the source.

    Raises:
        OpkitError: there is none, or one that the board could not call.
    """
    text = re.sub(r"^#.*$", "", preprocessed, flags=re.MULTILINE)
    uniforms = [name.strip() for found in _UNIFORM.finditer(text) for name in found[1].split(",")]
    functions = {
        found[1]: set(re.findall(r"\w+", _block(text[found.end() :])))
        for found in _FUNCTION.finditer(text)
    }
    found_kernels: dict[str, VxKernel] = {}
    for found in _KERNEL.finditer(text):
        group = _GROUP.search(found["attributes"] + found["more"])
        name = found["name"]
        words = _words_of(name, functions)
        found_kernels[name] = VxKernel(
            name,
            tuple(_parameters(found["parameters"], f"{file}: kernel '{name}'")),
            (int(group[1]), int(group[2]), int(group[3])) if group else None,
            not words.isdisjoint(_BARRIERS),
            tuple(uniform for uniform in uniforms if uniform in words),
        )
    if not found_kernels:
        raise OpkitError(f"{file}: there is no kernel; one begins with `__kernel void name(`")
    return found_kernels


def _words_of(name: str, functions: dict[str, set[str]]) -> set[str]:
    """Return all words of a function and of the functions that it calls."""
    words: set[str] = set()
    waiting, seen = [name], set[str]()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        words |= functions[name]
        waiting += [called for called in functions[name] if called in functions.keys() - seen]
    return words


def _block(text: str) -> str:
    """Return the text up to the brace that closes the block in which it begins."""
    depth = 1
    for brace in re.finditer(r"[{}]", text):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[: brace.start()]
    return text


def _parameters(text: str, where: str) -> Iterator[KernelParameter]:
    for declaration in text.split(","):
        words = [word for word in re.findall(r"\w+|\*", declaration) if word not in _QUALIFIERS]
        if words in ([], ["void"]):
            continue
        *type_words, name = words
        type_ = " ".join(type_words)
        if "*" in type_words:
            kind = "pointer"
        elif type_ in _IMAGES:
            kind = "tensor"
        elif type_.startswith("vx_array_"):
            kind = "array"
        elif type_ in _SCALARS:
            kind = "scalar"
        else:
            raise OpkitError(
                f"{where}: parameter '{name}' is of type {type_ or 'nothing'}; the board passes a "
                "tensor (image2d_array_t), an array (vx_array_int) or a scalar of 32 bits (int, "
                "uint, float, bool)"
            )
        yield KernelParameter(kind, type_, name)


_LOADS = {
    "tensor": "*(struct __opkit_image *)arguments[{index}]",
    "array": "*({type} *)arguments[{index}]",
    "scalar": "*({type} *)arguments[{index}]",
    "pointer": "({type})arguments[{index}]",
}


def entry_points(found: dict[str, VxKernel]) -> str:
    """Return the source text by which the runtime calls each kernel, and finds local memory."""
    lines = [
        'extern uchar __start___opkit_local[] __attribute__((weak, visibility("hidden")));',
        'extern uchar __stop___opkit_local[] __attribute__((weak, visibility("hidden")));',
        "uchar *__opkit_local_memory[2] = {__start___opkit_local, __stop___opkit_local};",
    ]
    for kernel in found.values():
        loads = ", ".join(
            f"*(int *)arguments[{index}] != 0"
            if parameter.type == "bool"
            else _LOADS[parameter.kind].format(type=parameter.type, index=index)
            for index, parameter in enumerate(kernel.parameters)
        )
        lines.append(f"void __opkit_entry_{kernel.name}(void **arguments) {{ {kernel.name}({loads}); }}")
    return "\n".join(lines) + "\n"
