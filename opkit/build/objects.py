"""operator_object(env, ...): an object that depends on everything that its compiler read.

SCons itself finds headers with a literal name in the folders of CPPPATH, and no others. So each
compile records its inputs beside the object, and an object with other inputs is built again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.build.compiler import LISTED
from opkit.toolchains.inputs import Inputs, prerequisites


def operator_object(env: Any, target: str, source: str) -> list[Any]:
    """Return the node of an object of the operator's sources, in a list.

    Args:
        env: the environment of an ABI's compiler, compiler_for(env, abi).
        target: the path of the object.
        source: the path of the source.
    """
    nodes: list[Any] = env.SharedObject(target, source)
    env.AddPostAction(nodes, Action(_record, None))
    env.Clean(nodes, [f"{target}{LISTED}", str(inputs_file(target))])
    inputs = Inputs.load(inputs_file(target))
    if inputs is None or not inputs.are_current():
        env.AlwaysBuild(nodes)
    return nodes


def inputs_file(target: str) -> Path:
    """Return the path of the inputs of an object."""
    return Path(f"{target}.inputs")


def _record(target: Any, source: Any, env: Any) -> None:
    path = target[0].path
    rule = Path(f"{path}{LISTED}").read_text(encoding="utf-8", errors="surrogateescape")
    # zig's own headers are beside it. They stand for its version, which is a flag.
    own = Path(str(env["CC"][0])).resolve().parent
    read = [file for file in prerequisites(rule) if not Path(file).resolve().is_relative_to(own)]
    folders = [folder.path for folder in map(env.Dir, env["CPPPATH"])]
    Inputs.found(read, folders).store(inputs_file(path))
