"""The files of RKNN-Toolkit2 in a repository: the callbacks, the plugin, the converter's files."""

from __future__ import annotations

from opkit.description.spec import OpSpec
from opkit.files import generation
from opkit.runtimes.files import Files, Readme, RuntimeTexts
from opkit.runtimes.rknn2 import converter_class as converters
from opkit.runtimes.rknn2 import gpu_files
from opkit.runtimes.rknn2.c_files import c_files, constant_inputs
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.describe import DESCRIBE, settings
from opkit.runtimes.rknn2.toolkit2 import PACKAGES

_PRODUCT = "builds build/{target}/librkcst_{lower}.so, and a static library"
_COMMANDS = """\
| `scons target={target}` | builds plugin and static library; `abi=armhf`: for a 32-bit \
system{android} |
| `scons deploy target={target}` | builds them and prints the commands to copy them to a board |
| `python3 -m venv .venv-rknn2 && .venv-rknn2/bin/pip install {packages}` | installs the \
toolkit (Python 3.8 to 3.12); `scons check` runs its simulator then |
| `.venv-rknn2/bin/python rknn2/convert.py model.onnx --target {target}` | converts a model with \
nodes `{op_type}` ({inputs}) |
"""
_EDIT = """\
The GPU kernel in `{kernel}` needs the same math; without it, its cases fail. To go
without such a kernel, write `kernels: [cpu]` in `op.yml`, and delete `test_gpu_kernel`."""
_GPU_PAGES = """\
| the GPU kernel | [docs/gpu.md](docs/gpu.md) |
"""
_ANDROID = "; `os=android ndk=PATH`: for Android, with its NDK"
_PAGES = """\
| conversion, plugin, library and application with RKNN-Toolkit2 | `rknn2.md` |
"""


def readme(spec: OpSpec) -> Readme:
    """Return the README's text on products and conversion."""
    target = DESCRIBE.target_of(spec)
    has_gpu = gpu_files.GPU in spec.kernels
    inputs = [each.name for each in spec.inputs] + [each.name for each in constant_inputs(spec)]
    return Readme(
        runtime="Rockchip's RKNN-Toolkit2",
        target=target,
        product=_PRODUCT.format(lower=spec.lower, target=target),
        files=tuple(gpu_files.once_only_files(spec)),
        generated=("rknn2/",),
        commands=_COMMANDS.format(
            target=target,
            android=_ANDROID if TARGETS[target].android_abis else "",
            packages=PACKAGES,
            op_type=settings(spec).op_type,
            inputs=f"inputs: {', '.join(inputs)}" if len(inputs) > 1 else f"input: {inputs[0]}",
        ),
        edit=_EDIT.format(kernel=gpu_files.kernel_file(spec))
        if gpu_files.once_only_files(spec)
        else "",
        pages=(_GPU_PAGES if has_gpu else "") + _PAGES,
    )


def _texts(spec: OpSpec) -> RuntimeTexts:
    converter = "" if settings(spec).is_standard else DESCRIBE.converter
    return RuntimeTexts(
        readme=readme(spec),
        tests=gpu_files.tests(spec),
        once_only=gpu_files.once_only_files(spec),
        converter=converter,
    )


def _generated(spec: OpSpec, reference: str) -> dict[str, str]:
    page = {"docs/gpu.md": generation.copy("runtimes/rknn2/docs/gpu.md")}
    return {
        **(page if gpu_files.GPU in spec.kernels else {}),
        **generation.headers("runtimes/rknn2/*.h"),
        **generation.declarations("runtimes/rknn2/include", "include/librknnrt"),
        **c_files(spec),
        **converters.files(spec),
    }


FILES = Files(
    texts=_texts,
    generated=_generated,
    from_scalar=gpu_files.from_scalar,
    required=lambda spec: tuple(gpu_files.once_only_files(spec)),
)
