"""The op.yml inside a package."""

from __future__ import annotations

import yaml

from opkit.description.spec import OpSpec
from opkit.runtimes.rknn.settings import settings


def package_description(spec: OpSpec, target: str) -> str:
    """Return the op.yml of the package for one chip, in the vendor's keys, order kept.

    This project's own keys (`doc`, `default`, `source`, `length`, `dtype`, `kernels`, `vx_version`,
    `sources`, `include`, `cflags`) are left out. The values of `out_binary`, `op_py_file` and
    `vx_file` are the plain file names: the vendor's packages hold these keys, but their effect in
    RKNN-Toolkit is not published.

    An operator without a VX kernel has `vx_file`, too. That is inferred: every known package has
    the key, but none is known of such an operator. The file itself is in no package.
    """
    tensor = {"type": "VX_TYPE_TENSOR"}
    description = {
        "name": spec.name,
        "framework": spec.framework,
        "target_platform": target,
        "inputs": {input_.name: dict(tensor) for input_ in spec.inputs},
        "outputs": {output.name: dict(tensor) for output in spec.outputs},
        "params": {param.name: {"type": param.type.name} for param in spec.params},
        "kernel_index": settings(spec).kernel_index,
        "op_version": 2,
        "out_binary": f"{spec.name}.rknnop",
        "op_py_file": f"rknn_op_{spec.lower}.py",
        "vx_file": f"rknn_kernel_{spec.lower}.vx",
    }
    return yaml.safe_dump(description, sort_keys=False)
