"""`python -m opkit.ci.products`: print the paths of the built products, one per line."""

from __future__ import annotations

import sys
from pathlib import Path

from opkit import repository, runtimes
from opkit.common.errors import OpkitError


def main() -> int:
    """Print the products of this folder; return the exit status."""
    try:
        repository.refuse_other_opkit(Path())
        products = repository.products(Path(), runtimes.selected(repository.load(Path())))
    except OpkitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for product in products:
        print(product)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
