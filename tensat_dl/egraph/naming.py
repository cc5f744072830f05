"""Names in the engine's program, mangled so that none collides with a word of the engine.

Tables of an operator `X`: `op_X` (the e-nodes), `made_X` (who made each, and in which
generation), `typed_X` (with what is known of their inputs), `young_n_X` (those of generations
before n).  Tables of a rule number `n`: `ask_n`, `hit_n`, `ans_n_p`, and those of its lists.
Variables of a rule `v` become `v_v`; what is known of them `t_v`, their keys `k_v`; the number of
what is known of a list `l_v`.
"""

from __future__ import annotations

import hashlib
import re

from tensat_dl.vocabulary.operators import Operator, OperatorKind


def _plain(text: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9]+", text):
        return text
    return re.sub(r"\W", "_", text) + "_" + hashlib.sha256(text.encode()).hexdigest()[:8]


def operator_suffix(operator: Operator) -> str:
    """The part of table names that stands for an operator."""
    if operator.kind is OperatorKind.ONNX and not operator.domain:
        return _plain(operator.name)
    return _plain(f"{operator.kind.value}:{operator.domain}:{operator.name}")


def node_table(operator: Operator) -> str:
    """The constructor of the operator's e-nodes."""
    return "op_" + operator_suffix(operator)


def made_table(operator: Operator) -> str:
    """The function from an e-node to `generation << 20 | rule`."""
    return "made_" + operator_suffix(operator)


def has_types(operator: Operator) -> bool:
    """It has a `typed_X`: what is known of a list of inputs has a number of its own."""
    return bool(operator.inputs) and not operator.is_variadic


def has_orders(operator: Operator) -> bool:
    """It has two operands that may change places."""
    return operator.commutative and len(operator.inputs) == 2 and not operator.is_variadic


def typed_table(operator: Operator) -> str:
    """The operator's e-nodes with what is known of their inputs."""
    return "typed_" + operator_suffix(operator)


def young_table(operator: Operator, rounds: int) -> str:
    """The function from the e-nodes of earlier generations than `rounds` to their origin."""
    return f"young_{rounds}_{operator_suffix(operator)}"


def relation_table(name: str) -> str:
    """The table of a user relation."""
    return "rel_" + _plain(name)


def variable(name: str) -> str:
    """A rule's variable as the engine sees it."""
    return "v_" + _plain(name)


def analysis_variable(name: str) -> str:
    """The analysis id (or ids) of a rule's variable."""
    return "t_" + _plain(name)


def list_variable(name: str) -> str:
    """The number of what is known of the elements of a rule's list variable."""
    return "l_" + _plain(name)


def key_variable(name: str) -> str:
    """The key of a rule's variable."""
    return "k_" + _plain(name)
