"""Warns of conditions that ask an attribute for a spelling in which no node is kept.

Enters: a checked program.  Leaves: warnings W0409.  Nodes are kept in one spelling: axes are
counted from the front, `auto_pad` has become pads.  A name that an attribute binds takes the value
of that spelling, so that a condition on another one holds in hardly any model.  Said is what
follows from trying all values; where they cannot be listed, or something else is asked too,
nothing is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import product

from tensat_dl.diagnostics import SourceFile
from tensat_dl.language import walk
from tensat_dl.language.check.report import Reporter, source_text
from tensat_dl.language.evaluate import Environment, holds
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.admitted import AUTO_PAD, Admitted, admitted, texts_of
from tensat_dl.vocabulary.operators import Operator

#: The names that attributes bind, with the operator and the attribute.
_Bound = Mapping[str, tuple[Operator, str]]

#: Combinations of values that are tried.
_MAX_TRIED = 5000


def warn_of_spellings(
    program: CheckedProgram, files: Collection[SourceFile], report: Reporter
) -> None:
    """Look at the patterns and conditions of each rule."""
    for rule in program.rules:
        if rule.span.file not in files:
            continue
        _warn_of_texts(rule, report)
        bound = {
            variable: (match.operator, name)
            for match in rule.matches
            for name, variable in match.attributes.bound
        }
        for condition in rule.conditions:
            for part in _alternatives(condition):
                _judge(part, bound, program, report)


def _warn_of_texts(rule: Rule, report: Reporter) -> None:
    """A pattern that writes a text which the attribute never has."""
    for match in rule.matches:
        for name, value in match.attributes.required:
            texts = texts_of(match.operator, name)
            if texts and isinstance(value, ast.String) and value.value not in texts:
                shown = ", ".join(f'"{text}"' for text in texts)
                report.warning(
                    "W0409",
                    f"no {match.operator.name} has {name}={source_text(value.span)}",
                    value.span,
                    help=f"`{name}` is one of {shown}",
                )


def _alternatives(expr: ast.Expr) -> Iterator[ast.Expr]:
    """The parts of a condition one of which, at least, has to hold by itself."""
    if isinstance(expr, ast.Binary) and expr.operator in ("and", "or"):
        yield from _alternatives(expr.left)
        yield from _alternatives(expr.right)
    else:
        yield expr


def _judge(part: ast.Expr, bound: _Bound, program: CheckedProgram, report: Reporter) -> None:
    names = tuple(dict.fromkeys(name.text for name in walk.names_in(part)))
    if not names or not all(name in bound for name in names):
        return
    domains = [admitted(*bound[name]) for name in names]
    known = [domain for domain in domains if domain is not None]
    if len(known) < len(domains) or _some(part, names, [d.usual for d in known], program):
        return
    rare = _some(part, names, [(*d.usual, *d.rare) for d in known], program)
    report.warning(
        "W0409",
        f"`{source_text(part.span)}` "
        + ("is true only where shapes are not known" if rare else "is never true"),
        part.span,
        label="; ".join(_reason(n, bound[n], d) for n, d in zip(names, known, strict=True)),
        help=_help(bound[names[0]], part),
    )


def _some(
    part: ast.Expr,
    names: tuple[str, ...],
    values: list[tuple[int | str, ...]],
    program: CheckedProgram,
) -> bool:
    """Is it true, or not false, of some values?  Also where there are too many to try."""
    for tried, choice in enumerate(product(*values)):
        env = Environment(dict(zip(names, choice, strict=True)), program.functions)
        if tried == _MAX_TRIED or holds(part, env) is not False:
            return True
    return False


def _reason(name: str, origin: tuple[Operator, str], domain: Admitted) -> str:
    operator, attribute = origin
    return f"`{name}` is `{attribute}` of {operator.name}, which {domain.because}"


def _help(origin: tuple[Operator, str], part: ast.Expr) -> str:
    """How to say what was meant."""
    operator, attribute = origin
    if attribute == "auto_pad":
        written = [e.value for e in walk.walk(part) if isinstance(e, ast.String)]
        text = next((text for text in AUTO_PAD[1:] if text in written), "")
        if not text:
            return "it is one of " + ", ".join(f'"{text}"' for text in AUTO_PAD)
        return (
            f'write it in the pattern, as `auto_pad="{text}"`: there it matches the pads that '
            "it stands for"
        )
    if attribute == "axis":
        return "write it in the pattern, as `axis=-1`, or compare with `rank(x) - 1`"
    return f"compare with a value that {operator.name} has"
