"""RKNN-Toolkit2's part of `scons`: plugins, static libraries, and the host runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opkit.description.parser import PC
from opkit.description.spec import OpSpec
from opkit.runtimes.build import Build
from opkit.runtimes.rknn2.chips import TARGETS
from opkit.runtimes.rknn2.describe import DESCRIBE, settings
from opkit.runtimes.rknn2.scons import deploy, librknnrt, plugin, toolkit_python


def _notes(spec: OpSpec) -> str:
    own = settings(spec)
    standard = (
        f"\n{own.op_type} is ONNX's own name: nodes stay as they are, there is no class for\n"
        "RKNN-Toolkit2, and the plugin needs librknnrt 2.x (1.6.0 aborts in rknn_init)."
    )
    return (
        f"The plugin is build/<target>/librkcst_{spec.lower}.so.\n"
        f"Applications take build/<target>/lib{spec.lower}_custom_op.a.\n"
        "With abi=armhf, both are in build/<target>-armhf/; with os=android, in\n"
        "build/<target>-arm64-v8a/ or, with abi=armeabi-v7a, build/<target>-armeabi-v7a/."
        f"{standard if own.is_standard else ''}"
    )


def _declare(env: Any, request: Any) -> Sequence[Any]:
    """Declare the plugin for this PC, its host runtime, and `deploy`."""
    if "deploy" in request.commands:
        deploy.deploy(env, _products(env, request.targets_of(DESCRIBE)))
    library, _ = plugin.plugin(env, PC)
    env.Clean(library, [plugin.FOLDER, "build/check", "build/report.html", "build/results"])
    return [*plugin.host(env, "report" in request.commands), library]


def _products(env: Any, targets: Mapping[str, str]) -> Sequence[Any]:
    """Return the nodes of plugins and static libraries."""
    built = {abi: plugin.plugin(env, abi) for abi in dict.fromkeys(targets.values())}
    products = [
        node
        for target, abi in targets.items()
        for node in plugin.deliver(env, TARGETS[target].folder(abi), built[abi])
    ]
    env.Clean(products, [plugin.FOLDER])
    return products


BUILD = Build(
    declare=_declare,
    products=_products,
    tools=(plugin, deploy, toolkit_python, librknnrt),
    notes=_notes,
    includes=("include/librknnrt",),
    harness_parts=lambda _: plugin.HARNESS_PARTS,
    simulators=toolkit_python.simulators,
    vendor_programs=librknnrt.vendor_programs,
)
