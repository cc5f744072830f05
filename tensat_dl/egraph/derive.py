"""Relations of a rule file as Datalog rules.

Enters: derivations.  Leaves: commands as text, and what the answerer needs.  They are saturated
before every rewrite step.  A derivation whose conditions look at attributes or types asks first,
as rules do.

Transitive derivations are made left-linear: `r(a, c) if r(a, b), r(b, c)` reads its first atom
from the facts that other derivations gave, which has the same least fixpoint and avoids joining
the closure with itself.  Where every use binds an argument, only what is demanded is derived (see
`egraph.demand`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tensat_dl.egraph import naming
from tensat_dl.egraph.demand import demand_table, derivation_prefix, is_transitive
from tensat_dl.egraph.plan import MatchPlan, plan_matches
from tensat_dl.egraph.query import (
    add_relations,
    column_variable,
    write_query,
)
from tensat_dl.egraph.runs import rule_text, run_rules
from tensat_dl.language import program

#: Asks the questions of derivations.
DERIVE_FIND = "rs_derive_find"
#: Derives.
DERIVE = "rs_derive"


@dataclass(frozen=True)
class EncodedDerivation:
    """`ask` and `answer` tables are "" for a derivation that needs no answer.  `outputs` are
    the integer arguments of the head, which the answer gives."""

    derivation: program.Derivation
    left: MatchPlan
    ask: str
    answer: str
    outputs: tuple[str, ...]
    commands: tuple[str, ...]


def encode_derivations(
    checked: program.CheckedProgram, arguments: Mapping[str, int]
) -> tuple[EncodedDerivation, ...]:
    """Write all derivations of a program; `arguments` are those demanded, by relation."""
    sorts = {r.name: r.columns for r in checked.relations}
    return tuple(
        _encode(number, derivation, sorts, checked, arguments)
        for number, derivation in enumerate(checked.derivations)
    )


def declare_rulesets() -> tuple[str, ...]:
    """The rulesets of this module."""
    return (f"(ruleset {DERIVE_FIND})", f"(ruleset {DERIVE})")


def base_table(relation: str) -> str:
    """The facts of a relation that no transitive derivation gave."""
    return "base_" + naming.relation_table(relation)


def _encode(
    number: int,
    derivation: program.Derivation,
    sorts: dict[str, tuple[str, ...]],
    checked: program.CheckedProgram,
    arguments: Mapping[str, int],
) -> EncodedDerivation:
    prefix = derivation_prefix(number)
    tensors: dict[str, None] = {}
    ints: dict[str, None] = {}
    for fact in derivation.facts:
        columns = sorts.get(fact.relation, ("Tensor",))
        for name, sort in zip(fact.arguments, columns, strict=True):
            (tensors if sort == "Tensor" else ints)[name] = None
    left = plan_matches(derivation.matches, tuple(tensors), tuple(ints))
    outputs = tuple(
        name
        for name, sort in zip(derivation.arguments, sorts[derivation.relation], strict=True)
        if sort != "Tensor" and name not in ints
    )
    asks = bool(outputs) or _needs_answer(derivation)
    ask, answer = (f"ask_{prefix}", f"ans_{prefix}") if asks else ("", "")
    encoded = EncodedDerivation(derivation, left, ask, answer, outputs, ())
    commands = tuple(_commands(encoded, prefix, _with_base(checked), arguments))
    return EncodedDerivation(derivation, left, ask, answer, outputs, commands)


def _needs_answer(derivation: program.Derivation) -> bool:
    return bool(
        derivation.conditions
        or derivation.ascriptions
        or any(f.is_weight for f in derivation.facts)
        or any(m.operator.attributes or m.operator.has_bundle for m in derivation.matches)
        or any(
            isinstance(i, program.InputLiteral | program.InputVariable | program.InputWildcard)
            and not (isinstance(i, program.InputVariable) and i.optional)
            and any(f.optional for f in m.operator.inputs)
            for m in derivation.matches
            for i in m.inputs
        )
        or any(isinstance(i, program.InputLiteral) for m in derivation.matches for i in m.inputs)
    )


def _with_base(checked: program.CheckedProgram) -> frozenset[str]:
    return frozenset(d.relation for d in checked.derivations if is_transitive(d))


def _commands(
    encoded: EncodedDerivation,
    prefix: str,
    with_base: frozenset[str],
    arguments: Mapping[str, int],
) -> Iterator[str]:
    derivation, left = encoded.derivation, encoded.left
    if is_transitive(derivation):
        yield from _closure(derivation, prefix, arguments.get(derivation.relation))
        return
    sorts = ["i64"] * len(left.columns)
    columns = [column_variable(c) for c in left.columns]
    yield from run_rules(left, prefix)
    results = [f"x_{naming.variable(o)}" for o in encoded.outputs]
    if encoded.ask:
        yield f"(relation {encoded.ask} ({' '.join(sorts)}))"
        yield f"(relation {encoded.answer} ({' '.join([*sorts, *['i64'] * len(results)])}))"
    row = " ".join(
        f"x_{naming.variable(a)}" if a in encoded.outputs else naming.variable(a)
        for a in derivation.arguments
    )
    tables = (
        [] if derivation.relation in arguments else [naming.relation_table(derivation.relation)]
    )
    if derivation.relation in with_base:
        tables.append(base_table(derivation.relation))
    head = [f"({table} {row})" for table in tables]
    query = write_query(left, prefix=prefix, origins=False)
    add_relations(query, derivation.facts)
    if encoded.ask:
        question = [f"({encoded.ask} {' '.join(columns)})"]
        yield rule_text(query.atoms, question, DERIVE_FIND, f"ask:{prefix}")
        query.add(f"({encoded.answer} {' '.join(columns + results)})")
    yield rule_text(query.atoms, head, DERIVE, f"derive:{prefix}")


def _closure(derivation: program.Derivation, prefix: str, demanded: int | None) -> Iterator[str]:
    """One step from the facts of other derivations, on the side that no demand fixes."""
    table, base = naming.relation_table(derivation.relation), base_table(derivation.relation)
    first, second = (table, base) if demanded == 0 else (base, table)
    body = [f"({first} a b)", f"({second} b c)"]
    if demanded is not None:
        asked = f"({demand_table(derivation.relation)} {'ac'[demanded]})"
        yield rule_text([asked, f"({base} a c)"], [f"({table} a c)"], DERIVE, f"demanded:{prefix}")
        body.insert(0, asked)
    yield rule_text(body, [f"({table} a c)"], DERIVE, f"derive:{prefix}")
