"""Prints a syntax tree as a rule file in canonical form.

Enters: a module.  Leaves: text that parses to an equal module, documentation included; plain
comments are not part of the tree.  Lines are kept to 100 columns where a clause can be broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tensat_dl.syntax import ast
from tensat_dl.syntax.print_blocks import (
    cost_model_lines,
    indented,
    operator_lines,
    parameters,
    schedule_lines,
    statement,
    test_lines,
)
from tensat_dl.syntax.print_expressions import (
    format_expr,
    format_plain,
    format_string,
    format_type,
)

__all__ = ["format_expr", "format_item", "format_module", "format_type"]

WIDTH = 100


def format_module(module: ast.Module) -> str:
    """A whole file, ending in a newline."""
    head = [*_documented("#!", module.doc), f"language {module.language}"]
    blocks = [head + [_import(i) for i in module.imports]]
    for item in module.items:
        lines = format_item(item).split("\n")
        if _joins(blocks[-1], lines):
            blocks[-1].extend(lines)
        else:
            blocks.append(lines)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def format_item(item: ast.Item | ast.Include) -> str:
    """One item, with its documentation and annotations, without a final newline."""
    return "\n".join(_documented("##", getattr(item, "doc", "")) + _item(item))


def _joins(block: Sequence[str], lines: Sequence[str]) -> bool:
    """True when a one-line `derive` follows one of its kind."""
    return len(lines) == 1 and lines[0].startswith("derive ") and block[-1].startswith("derive ")


def _documented(mark: str, doc: str) -> list[str]:
    return [f"{mark} {line}".rstrip() for line in doc.split("\n")] if doc else []


def _import(item: ast.Import) -> str:
    path = format_string(item.path)
    if item.alias is not None:
        return f"import {path} as {item.alias.text}"
    return f"import {path} {{ {_names(item.names)} }}"


def _names(names: Iterable[ast.Name]) -> str:
    return ", ".join(name.text for name in names)


def _item(item: ast.Item | ast.Include) -> list[str]:
    match item:
        case ast.Rewrite():
            return _annotations(item.annotations) + _rewrite(item)
        case ast.Rule():
            return _annotations(item.annotations) + _rule(item)
        case ast.Ruleset():
            return _annotations(item.annotations) + _ruleset(item)
        case ast.Operator():
            return operator_lines(item)
        case ast.Schedule():
            return schedule_lines(item)
        case ast.CostModel():
            return cost_model_lines(item)
        case ast.Test():
            return test_lines(item)
        case _:
            return _declaration(item)


def _declaration(
    item: ast.OperatorClass | ast.Relation | ast.Derive | ast.Function | ast.Include,
) -> list[str]:
    match item:
        case ast.OperatorClass(name=name, members=members):
            return [f"class {name.text} = {' | '.join(m.text for m in members)}"]
        case ast.Relation(name=name):
            return [f"relation {name.text}({parameters(item.parameters)})"]
        case ast.Derive(head=head, body=body):
            conditions = [
                statement(b) if isinstance(b, ast.Statement) else format_plain(b) for b in body
            ]
            return _wrapped(f"derive {format_expr(head)} if ", conditions, indent="")
        case ast.Function(name=name):
            signature = f"fn {name.text}({parameters(item.parameters)}) -> {item.result}"
            return [f"{signature} = {format_plain(item.body)}"]
        case ast.Include(names=names):
            return _wrapped("include ", [name.text for name in names], indent="")


# --- rules ----------------------------------------------------------------------------------


def _annotations(annotations: tuple[ast.Annotation, ...]) -> list[str]:
    shown = [
        f"@{a.name}" + (f"({', '.join(format_plain(e) for e in a.args)})" if a.args else "")
        for a in annotations
    ]
    return [" ".join(shown)] if shown else []


def _for_class(for_class: ast.ForClass | None) -> str:
    if for_class is None:
        return ""
    return f" for {for_class.variable.text} in {for_class.class_name.text}"


def _rewrite(rule: ast.Rewrite) -> list[str]:
    head = f"rewrite {rule.name.text}{_for_class(rule.for_class)}:"
    left, right = format_expr(rule.left), format_expr(rule.right)
    arrow = "<=>" if rule.both_ways else "=>"
    lines = [f"{head} {left} {arrow} {right}"]
    if len(lines[0]) > WIDTH:
        lines = [f"{head} {left}", f"    {arrow} {right}"]
    if len(lines[0]) > WIDTH:
        lines = [head, f"  {left}", f"    {arrow} {right}"]
    return lines + _clauses(rule.where, rule.lets)


def _clauses(where: tuple[ast.Expr, ...], lets: tuple[ast.Let, ...]) -> list[str]:
    conditions = [format_plain(condition) for condition in where]
    lines = _wrapped("where ", conditions, indent="  ") if conditions else []
    return lines + [f"  let {let.name.text} = {format_plain(let.value)}" for let in lets]


def _wrapped(head: str, parts: list[str], indent: str) -> list[str]:
    """The parts after `head` on one line, or one a line where they do not fit."""
    line = f"{indent}{head}{', '.join(parts)}"
    if len(line) <= WIDTH:
        return [line]
    first, *rest = [part + "," for part in parts[:-1]] + parts[-1:]
    return [f"{indent}{head}{first}", *(f"{indent}    {part}" for part in rest)]


def _rule(rule: ast.Rule) -> list[str]:
    each = ""
    if rule.each is not None:
        each = f" each ({_names(rule.each.members)}) by ({_names(rule.each.key)})"
    match = [f"  match{each} {{", *indented(map(statement, rule.match), 2), "  }"]
    emit = ["  emit {", *indented(map(statement, rule.emit), 2), "  }"]
    head = f"rule {rule.name.text}{_for_class(rule.for_class)} {{"
    return [head, *match, *_clauses(rule.where, rule.lets), *emit, "}"]


def _ruleset(ruleset: ast.Ruleset) -> list[str]:
    lines: list[str] = []
    for position, member in enumerate(ruleset.members):
        text = format_item(member).split("\n")
        previous = ruleset.members[position - 1] if position else None
        if previous and not (isinstance(previous, ast.Include) and isinstance(member, ast.Include)):
            lines.append("")
        lines += indented(text, 1)
    return [f"ruleset {ruleset.name.text} {{", *lines, "}"]
