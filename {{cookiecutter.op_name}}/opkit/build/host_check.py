"""env.HostCheck(): runs the cases of tests/, on this PC and wherever else they should."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from SCons.Action import Action

from opkit.check import executors
from opkit.check.sanitizers import ENVIRONMENT
from opkit.errors import OpkitError

EXECUTORS = Path("build/check/executors.json")


def exists(env: Any) -> bool:
    """Whether the tool can be used: always."""
    return True


def generate(env: Any) -> None:
    """Add the method to the environment."""
    env.AddMethod(host_check, "HostCheck")


def host_check(
    env: Any,
    needed: list[Any],
    abis: list[str],
    sanitizers: list[str],
    name: str = "check",
    action: Any = None,
) -> Any:
    """Return the alias `check`: every case of tests/, with what was just built.

    Args:
        env: the environment.
        needed: the nodes of what the cases use on this PC.
        abis: on which instruction sets they run as well.
        sanitizers: with which sanitizers they run as well.
        name: of the alias.
        action: what calls run_cases.

    Raises:
        OpkitError: `qemu=` does not fit to the ABIs, or a compiler is missing.
    """
    if env["qemu"] and not abis:
        raise OpkitError("qemu= runs a target's programs; say which with target=, as target=rv1126")
    if executors.is_board(env["qemu"]) and len(abis) > 1:
        raise OpkitError(f"qemu={env['qemu']} is one board; say its chip with target=")
    runners = {abi: env.TargetHarness(abi) for abi in abis}
    sanitized = {",".join(sanitizers): env.SanitizedHarness(sanitizers)} if sanitizers else {}
    check = env.Alias(
        name,
        [*needed, *runners.values(), *sanitized.values()],
        action or Action(run_cases, "check tests/"),
        RUNNERS={abi: node[0].abspath for abi, node in runners.items()},
        SANITIZED={names: node[0].abspath for names, node in sanitized.items()},
    )
    env.AlwaysBuild(check)
    return check


def run_cases(target: Any, source: Any, env: Any) -> int:
    """Run the cases on this PC and wherever HostCheck was told; return 0 if all is well."""
    not_run = []
    prepared = []
    with ExitStack() as stack:
        for name, program in env["SANITIZED"].items():
            executor = executors.Executor(name, (program,), ENVIRONMENT)
            try:
                executors.probe(executor)
                prepared.append(executor)
            except executors.ExecutorError as error:
                print(f"error: sanitize={name}: {error}", file=sys.stderr)
                return 1
        for abi, program in env["RUNNERS"].items():
            try:
                launched = executors.launch(abi, Path(program), env["qemu"])
                prepared.append(stack.enter_context(launched))
            except executors.ExecutorError as error:
                not_run.append(f"the cases did not run on {abi}: {error}")
        executors.save(EXECUTORS, prepared)
        environment = {**os.environ, "OPKIT_BUILT": "1"}
        command = [sys.executable, "-m", "pytest", "-q", f"--executors={EXECUTORS.absolute()}"]
        status = subprocess.run(command, env=environment, check=False).returncode
    required = env["require_target"]
    for problem in not_run:
        hint = "; require_target=0 does without" if required else ""
        print(f"{'error' if required else 'warning'}: {problem}{hint}", file=sys.stderr)
    return status or int(required and bool(not_run))
