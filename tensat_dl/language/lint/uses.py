"""Warns of rules that another implies, that feed themselves, or that lead nowhere.

Enters: checked rules.  Leaves: warnings W0402, W0406, W0407 and W0408.  Each is proved on the terms
of the rules; where that is not possible, nothing is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from tensat_dl.diagnostics import SourceFile
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.lint.holds import implied_by, mentioned
from tensat_dl.language.lint.matching import Matcher, Substitution, key, replaced, substituted
from tensat_dl.language.lint.sides import Node, Sides, Variable, sides, subterms, variables
from tensat_dl.language.lint.typing import keeps_type
from tensat_dl.language.program import CheckedProgram, Derivation, Rule
from tensat_dl.language.sides import matched_operators
from tensat_dl.vocabulary.operators import Operator


@dataclass(frozen=True)
class Beside:
    """The program; the files whose rules are looked at, but those of the names `repeated`.

    `steps`: the rules that run together, of each step of the schedule.
    """

    program: CheckedProgram
    files: Collection[SourceFile]
    repeated: Collection[str]
    steps: Sequence[frozenset[str]]

    def runs_with(self, other: Rule, rule: Rule) -> bool:
        """Does `other` run wherever `rule` does?"""
        return all(other.name in step for step in self.steps if rule.name in step)


def warn_of_uses(beside: Beside, report: Reporter) -> None:
    """Look at each rule beside all the others."""
    rules = beside.program.rules
    terms = [found for rule in rules if (found := sides(rule)) is not None]
    by_root: dict[Operator, list[Sides]] = {}
    matcher = Matcher()
    for found in terms:
        by_root.setdefault(found.left.operator, []).append(found)
    for base, own in _by_base(rules, beside.files).items():
        shown = [found for found in terms if found.rule.base == base]
        if len(shown) < len(own) or base in beside.repeated:
            continue  # not all of it can be shown as terms
        if all(key(found.left) == key(found.right) for found in shown):
            _warn_same(own[0], report)
            continue
        implying = [_implying(found, by_root, beside, matcher) for found in shown]
        if all(implying):
            _warn_implied(own[0], implying[0], report)
        elif any(_grows(found, matcher) for found in shown):
            _warn_growing(own[0], report)
        elif all(_is_dead_end(found, beside) for found in shown):
            _warn_useless(own[0], report)


def _by_base(rules: Sequence[Rule], files: Collection[SourceFile]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.span.file in files:
            found.setdefault(rule.base, []).append(rule)
    return found


# --- implied --------------------------------------------------------------------------------


def _implying(
    shown: Sides,
    by_root: Mapping[Operator, Sequence[Sides]],
    beside: Beside,
    matcher: Matcher,
) -> str:
    """The rule that makes the right side of this one from its left side, in one step."""
    wanted = key(shown.right)
    for operator in dict.fromkeys(place.operator for place in subterms(shown.left)):
        for other in by_root.get(operator, ()):
            if matcher.effort < 0 or not _may_imply(other, shown, beside):
                continue
            if _one_step(other, shown, wanted, matcher) and not _later_twin(other, shown, matcher):
                return other.rule.base
    return ""


def _may_imply(other: Sides, shown: Sides, beside: Beside) -> bool:
    """Another rule, that runs wherever this one does, claims as much, and finds its operators."""
    rule, base = other.rule, shown.rule
    if rule.base == base.base or not other.operators <= shown.operators:
        return False
    as_strong = not (rule.off and not base.off) and not (rule.real and not base.real)
    return as_strong and beside.runs_with(rule, base)


def _one_step(other: Sides, shown: Sides, wanted: str, matcher: Matcher) -> bool:
    """Does `other`, applied at one place of the left side, give the right side?

    At the root the types that must agree are those of both rules; further in, the other rule
    must keep types by itself.
    """
    for place in subterms(shown.left):
        for found in matcher.matches(other.left, place):
            known = implied_by(other.rule, found, shown.rule)
            if known is None:
                continue
            made = substituted(other.right, known)
            if any(key(term) == wanted for term in replaced(shown.left, place, made)):
                return place is shown.left or keeps_type(other)
    return False


def _later_twin(other: Sides, shown: Sides, matcher: Matcher) -> bool:
    """Do both imply each other, and is the other the later one?  The first one stays."""
    return _place(other.rule) > _place(shown.rule) and _one_step(
        shown, other, key(other.right), matcher
    )


def _place(rule: Rule) -> tuple[str, int]:
    return rule.span.file.name, rule.span.start


# --- growing --------------------------------------------------------------------------------


def _grows(shown: Sides, matcher: Matcher) -> bool:
    """Does the pattern match inside of the result, each time with a larger term?"""
    rule = shown.rule
    if rule.expansive or rule.is_multi_output or not isinstance(shown.right, Node):
        return False
    asked = mentioned(rule)
    places = (place for child in shown.right.inputs for place in subterms(child))
    inside = (found for place in places for found in matcher.matches(shown.left, place))
    return any(not asked & _moved(found) and _has_growing_circle(found) for found in inside)


def _moved(found: Substitution) -> set[str]:
    """The names of a pattern that stand for something else than themselves."""
    tensors = {name for name, term in found.tensors.items() if term != Variable(name)}
    return tensors | {name for name, text in found.texts.items() if text != name}


def _has_growing_circle(found: Substitution) -> bool:
    """Is there a tensor that becomes, after some rounds, an operator of itself?"""
    return any(
        isinstance(term, Node) and any(name in _reached(start, found) for start in variables(term))
        for name, term in found.tensors.items()
    )


def _reached(start: str, found: Substitution) -> set[str]:
    """The tensors whose next value holds the value of `start`, directly or later."""
    reached: set[str] = {start}
    todo = [start]
    while todo:
        current = todo.pop()
        term = found.tensors.get(current)
        for name in variables(term) if term is not None else ():
            if name not in reached:
                reached.add(name)
                todo.append(name)
    return reached


# --- leading nowhere ------------------------------------------------------------------------


def new_nodes(shown: Sides) -> list[Node]:
    """The nodes that only the right side has, outermost first."""
    old = {key(node) for node in subterms(shown.left)}
    return [node for node in subterms(shown.right) if key(node) not in old]


def leads_on(shown: Sides, program: CheckedProgram) -> bool:
    """Does anything but the rule itself match an operator of the nodes that are new?"""
    new = {node.operator for node in new_nodes(shown)}
    others = (other for other in program.rules if other.base != shown.rule.base)
    users: Iterator[Rule | Derivation] = chain(others, program.derivations)
    return any(not new.isdisjoint(matched_operators(user)) for user in users)


def _is_dead_end(shown: Sides, beside: Beside) -> bool:
    """The result holds the pattern and more, and nothing goes on from what is more."""
    left = key(shown.left)
    inside = list(subterms(shown.right))[1:]
    if shown.rule.off or all(key(place) != left for place in inside):
        return False
    return not leads_on(shown, beside.program)


# --- words ----------------------------------------------------------------------------------


def _warn_same(rule: Rule, report: Reporter) -> None:
    """Written otherwise, and yet the same; sides that are written alike are told before."""
    report.warning(
        "W0402",
        "both sides are the same",
        rule.span,
        label="the order of attributes, or of inputs that commute, says nothing",
        help="remove the rule: patterns match in any order without it",
    )


def _warn_implied(rule: Rule, other: str, report: Reporter) -> None:
    report.warning(
        "W0406",
        f"`{rule.base}` follows from `{other}`",
        rule.span,
        label=f"`{other}` finds this, too",
        help="remove it: it finds nothing new",
    )


def _warn_growing(rule: Rule, report: Reporter) -> None:
    report.warning(
        "W0407",
        f"`{rule.base}` feeds itself: it matches inside of what it made, each time a larger term",
        rule.span,
        help="match less, or run it with a limit and mark it `@expansive`",
    )


def _warn_useless(rule: Rule, report: Reporter) -> None:
    report.warning(
        "W0408",
        f"`{rule.base}` makes nothing cheaper: its result holds all that it matched, and more",
        rule.span,
        label="no other rule matches what is new",
        help="turn it round, remove it, or add the rule that goes on from its result",
    )
