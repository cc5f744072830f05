"""A rule file of TASO's substitutions.

Enters: substitutions and the name of their file.  Leaves: the text of a rule file in canonical
layout, with a comment for each substitution that is not expressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensat_dl.syntax.format import lay_out
from tensat_dl.taso.graph import Inexpressible
from tensat_dl.taso.read import Substitution
from tensat_dl.taso.translate import Translation, translate


@dataclass(frozen=True)
class RuleFile:
    """`missing`: number of a substitution in its file, and why it is not expressed."""

    text: str
    rules: int
    missing: tuple[tuple[int, str], ...]


def compose(substitutions: Sequence[Substitution], name: str) -> RuleFile:
    """Rules `taso_0`, `taso_1`, ... after the places in the file."""
    items: list[str] = []
    missing: list[tuple[int, str]] = []
    virtual: set[tuple[str, str]] = set()
    for number, substitution in enumerate(substitutions):
        try:
            found: Translation = translate(substitution, f"taso_{number}")
        except Inexpressible as reason:
            missing.append((number, str(reason)))
            items.append(f"# Substitution {number} is not expressed: {reason}.\n")
            continue
        virtual |= found.virtual
        items.append(f"## Substitution {number}.\n{found.text}")
    head = [_head(name, len(items) - len(missing)), *map(_virtual, sorted(virtual))]
    return RuleFile(lay_out("\n".join([*head, *items])), len(items) - len(missing), tuple(missing))


def _head(name: str, rules: int) -> str:
    shown = "".join(letter if letter.isprintable() else "?" for letter in name)
    return (
        f"#! {rules} substitutions of TASO, from {shown}, as they stand there.\n#!\n"
        "#! Convolutions have any number of groups, and sums broadcast, as TASO allows: some of\n"
        "#! these rules may be wrong. `tensat-dl verify` says which.\nlanguage 1\n"
    )


def _virtual(operator: tuple[str, str]) -> str:
    name, activation = operator
    attributes = ", **Conv" if name == "Conv" else ""
    return (
        f"op {name}{activation}(a: Tensor, b: Tensor{attributes}) -> y: Tensor "
        f"{{ lower y = {activation}({name}(a, b{attributes})) }}\n"
    )
