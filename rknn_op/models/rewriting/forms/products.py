"""Products of tensors, and of the numbers in them."""

from __future__ import annotations

from itertools import combinations
from math import prod

from rknn_op.models.rewriting.form import Builder, ConditionError, Value, form, sizes

_MAX_SIDE = 3


@form("Det")
def product_of_rows(op: Builder, x: Value) -> Value:
    """Products of 2 x 2 or 3 x 3 elements."""
    *outer, _, side = sizes(x)
    if side > _MAX_SIDE:
        raise ConditionError(f"a matrix is {side} x {side} (expected at most 3 x 3)")
    flat = op.Reshape(x, [-1, side * side])

    def part(value: Value, start: int, end: int) -> Value:
        return op.Slice(value, [start], [end], [1])

    if side == 1:
        result = flat
    elif side == 2:
        main = op.Mul(part(flat, 0, 1), part(flat, 3, 4))
        result = op.Sub(main, op.Mul(part(flat, 1, 2), part(flat, 2, 3)))
    else:
        first, *others = (part(flat, start, start + 3) for start in (0, 3, 6))
        second, third = (op.Concat(row, row, axis=1) for row in others)
        cross = op.Sub(
            op.Mul(part(second, 1, 4), part(third, 2, 5)),
            op.Mul(part(second, 2, 5), part(third, 1, 4)),
        )
        result = op.ReduceSum(op.Mul(first, cross), axes=[1])
    return op.Reshape(result, outer)


@form("RotaryEmbedding", first=True)
def rotated_pairs(
    op: Builder,
    x: Value,
    cosines: Value,
    sines: Value,
    position_ids: Value | None = None,
    *,
    interleaved: int,
    num_heads: int,
    rotary_embedding_dim: int,
) -> Value:
    """Gather, if there are positions; Slice, Mul, Add, Concat."""
    shape = sizes(x)
    heads = 1 if len(shape) == 4 else 2  # their axis
    if heads == 2:
        x = op.Reshape(x, [*shape[:2], num_heads, shape[2] // num_heads])
    *outer, size = sizes(x)
    length = rotary_embedding_dim or size
    pairs = [length // 2, 1] if interleaved else [length // 2]
    shape_of_cache = [outer[0], *outer[1:]]
    shape_of_cache[heads] = 1

    def cached(value: Value) -> Value:
        if position_ids is not None:
            value = op.Gather(value, position_ids)
        return op.Reshape(value, [*shape_of_cache, *pairs])

    def part(value: Value, start: int, end: int) -> Value:
        return op.Slice(value, [start], [end], [-1])

    rotated = x if length == size else part(x, 0, length)
    if interleaved:
        rotated = op.Reshape(rotated, [*outer, length // 2, 2])
    side = 1 if interleaved else length // 2
    real, imaginary = part(rotated, 0, side), part(rotated, side, 2 * side)
    cosine, sine = cached(cosines), cached(sines)
    result = op.Concat(
        op.Sub(op.Mul(real, cosine), op.Mul(imaginary, sine)),
        op.Add(op.Mul(real, sine), op.Mul(imaginary, cosine)),
        axis=-1,
    )
    if interleaved:
        result = op.Reshape(result, [*outer, length])
    if length < size:
        result = op.Concat(result, part(x, length, size), axis=-1)
    return op.Reshape(result, [*shape])


# ---- Einsum --------------------------------------------------------------------------------------


@form("Einsum")
def products_of_pairs(op: Builder, *inputs: Value, equation: str) -> Value:
    """Transpose, Reshape, MatMul or Mul of two inputs at a time, ReduceSum."""
    left, output = _letters(equation, [len(sizes(each)) for each in inputs])
    terms = [_without_repeats(op, *each) for each in zip(inputs, left, strict=True)]

    def needed(pair: tuple[int, ...]) -> set[str]:
        """Return the letters in the output, or in another input than those of a pair."""
        others = (letters for index, (_, letters) in enumerate(terms) if index not in pair)
        return {*output}.union(*others)

    def result_size(pair: tuple[int, ...]) -> int:
        known = {c: s for i in pair for c, s in zip(terms[i][1], sizes(terms[i][0]), strict=True)}
        return prod(size for letter, size in known.items() if letter in needed(pair))

    while len(terms) > 1:
        pair = min(combinations(range(len(terms)), 2), key=result_size)
        product = _product(op, terms[pair[0]], terms[pair[1]], needed(pair))
        terms = [term for index, term in enumerate(terms) if index not in pair] + [product]
    value, letters = _summed(op, *terms[0], {*output})
    return _ordered(op, value, letters, output)


_Term = tuple[Value, str]
"""A tensor, and the letter of each axis."""


def _letters(equation: str, ranks: list[int]) -> tuple[list[str], str]:
    """Return the letters of each input and of the output; those of an ellipsis are digits."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    unnamed = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True)]
    digits = "0123456789"[: max(unnamed)]
    terms = [
        term.replace("...", digits[len(digits) - count :])
        for term, count in zip(terms, unnamed, strict=True)
    ]
    if not arrow:
        named = [letter for letter in "".join(terms) if letter not in digits]
        output = "..." + "".join(sorted(each for each in named if named.count(each) == 1))
    return terms, output.replace("...", digits)


def _ordered(op: Builder, value: Value, letters: str, order: str) -> Value:
    return op.Transpose(value, perm=[letters.index(each) for each in order])


def _without_repeats(op: Builder, value: Value, letters: str) -> _Term:
    """Return the diagonal of axes with the same letter."""
    for letter in sorted({each for each in letters if letters.count(each) > 1}):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            side = sizes(value)[first]
            others = [axis for axis in range(len(letters)) if axis not in (first, second)]
            shape = [sizes(value)[axis] for axis in others]
            moved = op.Transpose(value, perm=[*others, first, second])
            flat = op.Reshape(moved, [*shape, side * side])
            value = op.Gather(flat, [*range(0, side * side, side + 1)], axis=-1)
            letters = "".join(letters[axis] for axis in others) + letter
    return value, letters


def _summed(op: Builder, value: Value, letters: str, kept: set[str]) -> _Term:
    """Return the sum along all axes but some."""
    axes = [axis for axis, letter in enumerate(letters) if letter not in kept]
    if not axes:
        return value, letters
    return op.ReduceSum(value, axes=axes, keepdims=0), "".join(c for c in letters if c in kept)


def _product(op: Builder, first: _Term, second: _Term, needed: set[str]) -> _Term:
    """Return the product of two inputs, summed along the axes that are not needed."""
    first = _summed(op, *first, needed | {*second[1]})
    second = _summed(op, *second, needed | {*first[1]})
    side = dict(zip(first[1], sizes(first[0]), strict=True))
    other_side = dict(zip(second[1], sizes(second[0]), strict=True))
    # A side of 1 is repeated: the letter is one of the other input alone.
    first = _squeezed(op, *first, {c for c in side if other_side.get(c, 1) > side[c]})
    second = _squeezed(op, *second, {c for c in other_side if side.get(c, 1) > other_side[c]})
    both = [letter for letter in first[1] if letter in second[1]]
    batch = [letter for letter in both if letter in needed]
    inner = [letter for letter in both if letter not in needed]
    left = [letter for letter in first[1] if letter not in both]
    right = [letter for letter in second[1] if letter not in both]
    sides = other_side | {c: side[c] for c in first[1]}
    rows, columns, depth = (prod(sides[c] for c in each) for each in (left, right, inner))
    outer = [sides[letter] for letter in batch]
    left_value = _ordered(op, *first, "".join([*batch, *left, *inner]))
    right_value = _ordered(op, *second, "".join([*batch, *inner, *right]))
    if inner:
        merged = [prod(outer)] if batch else []
        product = op.MatMul(
            op.Reshape(left_value, [*merged, rows, depth]),
            op.Reshape(right_value, [*merged, depth, columns]),
        )
    else:
        product = op.Mul(
            op.Reshape(left_value, [*outer, *[rows] * bool(left), *[1] * bool(right)]),
            op.Reshape(right_value, [*outer, *[1] * bool(left), *[columns] * bool(right)]),
        )
    letters = "".join([*batch, *left, *right])
    return op.Reshape(product, [sides[letter] for letter in letters]), letters


def _squeezed(op: Builder, value: Value, letters: str, repeated: set[str]) -> _Term:
    if not repeated:
        return value, letters
    kept = {c: size for c, size in zip(letters, sizes(value), strict=True) if c not in repeated}
    return op.Reshape(value, [*kept.values()]), "".join(kept)
