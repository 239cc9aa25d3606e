"""The lines of generated C for an operator with `threads` in op.yml; empty without the key."""

from __future__ import annotations

from opkit.description.spec import AUTO_THREADS, OpSpec

INCLUDE = '#include "../include/opkit/compute/parallel.h"\n'


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


def include(spec: OpSpec) -> str:
    """Return the line that includes opkit_parallel_for for the user's math."""
    return INCLUDE if spec.has_threads else ""
