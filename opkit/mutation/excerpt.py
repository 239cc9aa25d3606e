"""The excerpt of a source that shows a change."""

from __future__ import annotations

import re

from opkit.mutation.site import COMMENT, Site, is_balanced
from opkit.mutation.syntax_tree import Span

_SHORT, _WIDE = 36, 60  # characters


def excerpt(site: Site, span: Span) -> Span:
    """Return the span of the source that shows a change.

    That is the widest short expression around it; else the narrowest expression, the call of the
    macro around it, or its line; else itself.
    """
    begin = site.source.rfind(b"\n", 0, span[0]) + 1
    end = site.source.find(b"\n", span[1])
    nodes = [node for node in (*site.above[1:], site.node) if node.kind[-4:] != "Stmt"]
    inner = [node.span for node in nodes if node.span and _is_inside(span, node.span, site)]
    outer = [(begin, end if end >= 0 else len(site.source)), _call_around(site.source, span)]
    scopes = [*outer, *inner]
    texts = [site.source[slice(*scope)] for scope in scopes]
    lengths = [len(one_line(text)) if is_balanced(text) else _WIDE + 1 for text in texts]
    short = [each for each, length in zip(inner, lengths[2:], strict=True) if length <= _SHORT]
    fitting = [each for each, length in zip(scopes, lengths, strict=True) if length <= _WIDE]
    return next(iter(short), fitting[-1] if fitting else span)


def _call_around(source: bytes, span: Span) -> Span:
    """Return the innermost parentheses around a span, with the name before them."""
    begin, end = span
    depth = 0
    while begin > 0 and depth < 1:
        begin -= 1
        depth += {b"(": 1, b")": -1}.get(source[begin : begin + 1], 0)
    while end < len(source) and depth > 0:
        depth += {b"(": 1, b")": -1}.get(source[end : end + 1], 0)
        end += 1
    name = re.search(rb"\w*$", source[:begin])
    return (name.start() if name else begin), end


def _is_inside(span: Span, scope: Span, site: Site) -> bool:
    """Whether a scope contains a change, and more than the one changed word."""
    is_word = b" " not in site.source[slice(*span)]
    return scope[0] <= span[0] and span[1] <= scope[1] and (scope != span or not is_word)


def one_line(source: bytes) -> str:
    """Return a part of a source on one line, without comments."""
    return " ".join(COMMENT.sub(b" ", source).decode(errors="replace").split())
