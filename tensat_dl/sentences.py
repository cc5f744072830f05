"""Parts of the sentences of messages: counts with their nouns, lists of names, odd names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def seen(text: str) -> str:
    """Text as one line in which all is seen: names in models may hold anything, so line breaks,
    control characters and marks that turn the direction of writing are shown as `\\n`, `\\x1b`,
    `\\u202e`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(count: int, noun: str) -> str:
    """`1 rule`, `1,200 rules`."""
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def listed(names: Iterable[str]) -> str:
    """`` `a`, `b` and `c` ``."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return ", ".join(quoted[:-1]) + " and " + quoted[-1]


def shortened(items: Sequence[str], most: int) -> str:
    """The first `most` of them: `a, b and 3 more`."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
