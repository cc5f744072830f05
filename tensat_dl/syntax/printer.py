"""Prints a syntax tree as a rule file in canonical form.

Enters: a module.  Leaves: text that parses to an equal module, documentation included; plain
comments are not part of the tree.  The white space is chosen by the layout of rule files.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensat_dl.syntax import ast
from tensat_dl.syntax.format import lay_out
from tensat_dl.syntax.print_blocks import (
    cost_model,
    operator,
    parameters,
    schedule,
    statement,
    statements,
    test,
)
from tensat_dl.syntax.print_expressions import (
    format_expr,
    format_plain,
    format_string,
    format_type,
)

__all__ = ["format_expr", "format_module", "format_type"]


def format_module(module: ast.Module) -> str:
    """A whole file, ending in a newline."""
    head = [*_documented("#!", module.doc), f"language {module.language}"]
    text = "\n".join(head + [_import(i) for i in module.imports])
    previous: ast.Item | None = None
    for item in module.items:
        derives = isinstance(previous, ast.Derive) and isinstance(item, ast.Derive)
        text += ("\n" if derives else "\n\n") + _documented_item(item)
        previous = item
    return lay_out(text)


def _documented_item(item: ast.Item | ast.Include) -> str:
    doc = "" if isinstance(item, ast.Include) else item.doc
    return "\n".join([*_documented("##", doc), _item(item)])


def _documented(mark: str, doc: str) -> list[str]:
    return [f"{mark} {line}".rstrip() for line in doc.split("\n")] if doc else []


def _import(item: ast.Import) -> str:
    path = format_string(item.path)
    if item.alias is not None:
        return f"import {path} as {item.alias.text}"
    return f"import {path} {{ {_names(item.names)} }}"


def _names(names: Iterable[ast.Name]) -> str:
    return ", ".join(name.text for name in names)


def _item(item: ast.Item | ast.Include) -> str:
    match item:
        case ast.Rewrite():
            return _annotations(item.annotations) + _rewrite(item)
        case ast.Rule():
            return _annotations(item.annotations) + _rule(item)
        case ast.Ruleset():
            return _annotations(item.annotations) + _ruleset(item)
        case ast.Operator():
            return operator(item)
        case ast.Schedule():
            return schedule(item)
        case ast.CostModel():
            return cost_model(item)
        case ast.DefaultCost(name=name):
            return f"default cost {name.text}"
        case ast.Test():
            return test(item)
        case _:
            return _declaration(item)


def _declaration(
    item: ast.OperatorClass | ast.Relation | ast.Derive | ast.Function | ast.Include,
) -> str:
    match item:
        case ast.OperatorClass(name=name, members=members):
            return f"class {name.text} = {' | '.join(m.text for m in members)}"
        case ast.Relation(name=name):
            return f"relation {name.text}({parameters(item.parameters)})"
        case ast.Derive(head=head, body=body):
            conditions = [
                statement(b) if isinstance(b, ast.Statement) else format_plain(b) for b in body
            ]
            return f"derive {format_expr(head)} if {', '.join(conditions)}"
        case ast.Function(name=name):
            signature = f"fn {name.text}({parameters(item.parameters)}) -> {item.result}"
            return f"{signature} = {format_plain(item.body)}"
        case ast.Include(names=names):
            return f"include {_names(names)}"


# --- rules ----------------------------------------------------------------------------------


def _annotations(annotations: tuple[ast.Annotation, ...]) -> str:
    return "".join(
        f"@{a.name}" + (f"({', '.join(format_plain(e) for e in a.args)}) " if a.args else " ")
        for a in annotations
    )


def _for_class(for_class: ast.ForClass | None) -> str:
    if for_class is None:
        return ""
    return f" for {for_class.variable.text} in {for_class.class_name.text}"


def _rewrite(rule: ast.Rewrite) -> str:
    head = f"rewrite {rule.name.text}{_for_class(rule.for_class)}:"
    arrow = "<=>" if rule.both_ways else "=>"
    sides = f"{format_expr(rule.left)} {arrow} {format_expr(rule.right)}"
    return f"{head} {sides}{_clauses(rule.where, rule.lets)}"


def _clauses(where: tuple[ast.Expr, ...], lets: tuple[ast.Let, ...]) -> str:
    conditions = f" where {', '.join(map(format_plain, where))}" if where else ""
    return conditions + "".join(f" let {let.name.text} = {format_plain(let.value)}" for let in lets)


def _rule(rule: ast.Rule) -> str:
    each = ""
    if rule.each is not None:
        each = f"each ({_names(rule.each.members)}) by ({_names(rule.each.key)}) "
    match = f"match {each}{statements(rule.match)}"
    emit = f"emit {statements(rule.emit)}"
    head = f"rule {rule.name.text}{_for_class(rule.for_class)}"
    return f"{head} {{ {match}{_clauses(rule.where, rule.lets)} {emit} }}"


def _ruleset(ruleset: ast.Ruleset) -> str:
    text = ""
    previous: ast.Include | ast.Rewrite | ast.Rule | None = None
    for member in ruleset.members:
        includes = isinstance(previous, ast.Include) and isinstance(member, ast.Include)
        text += ("\n" if includes else "\n\n") + _documented_item(member)
        previous = member
    return f"ruleset {ruleset.name.text} {{{text}\n}}"
