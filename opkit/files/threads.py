"""The lines of generated C for an operator with `threads` in op.yml; empty without the key."""

from __future__ import annotations

from opkit.description.spec import AUTO_THREADS, OpSpec

HEADER = "include/opkit/compute/parallel.h"
"""The header with opkit_parallel_for, in a repository."""


def definitions(spec: OpSpec) -> str:
    """Return the macros for loops in several threads, which precede the first include of a file."""
    if not spec.has_threads:
        return ""
    what = "one for each processor" if spec.threads == AUTO_THREADS else "`threads` in op.yml"
    return f"""\
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for opkit/compute/thread_pool.h */
#endif
#define OPKIT_THREADS {spec.threads} /* {what} */

"""


def include(spec: OpSpec, root: str) -> str:
    """Return the line that includes opkit_parallel_for.

    Args:
        spec: the operator.
        root: the path of the repository, relative to the file, with a slash at its end.
    """
    return f'#include "{root}{HEADER}"\n' if spec.has_threads else ""
