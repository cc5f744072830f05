"""TASO's own file: its substitutions are the published rules, and the wrong ones are found."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from published import GROUPED, UNGROUPED, Equation, Term, equations, wrong_where_broadcast

from tensat_dl.cli.main import main
from tensat_dl.errors import ExitCode
from tensat_dl.language.load import load_rules
from tensat_dl.soundness import check
from tensat_dl.soundness.run import chosen, verify_program
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.verdict import Status
from tensat_dl.taso.compose import compose
from tensat_dl.taso.read import Node, Substitution, Tensor, read_substitutions

FILE = Path(__file__).parents[3] / "shared/data/taso/graph_subst.pb"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="TASO's file is not here")

#: TASO's numbers of operators, in the notation of the published rules.
_HEADS = {3: "cv", 8: "relu", 12: "cat", 13: "sp", 16: "+", 17: "*", 18: "mm"}
_RELU, _AXIS, _RANK = 2, 11, 10
#: Wrong where a sum of weights is broadcast.
WEIGHTS = frozenset(("S59", "S60", "S61", "S62"))


@cache
def substitutions() -> tuple[Substitution, ...]:
    return read_substitutions(FILE)


def term(nodes: tuple[Node, ...], tensor: Tensor) -> Term:
    """A tensor in the notation of the published rules."""
    if tensor.operator < 0:
        return Term(f"v{-tensor.operator}")
    node = nodes[tensor.operator]
    head = _HEADS[node.kind]
    if head == "cv" and node.parameters[9] == _RELU:
        head = "cvR"
    if head == "cat":
        head = f"cat{node.parameters[_AXIS]}/{node.parameters[_RANK]}"
    if head == "sp":
        head = f"{tensor.output}:sp{node.parameters[_AXIS]}"
    return Term(head, tuple(term(nodes, each) for each in node.inputs))


def canonical(left: tuple[Term, ...], right: tuple[Term, ...]) -> tuple[object, ...]:
    """With variables numbered as they come."""
    numbers: dict[str, int] = {}

    def renamed(each: Term) -> object:
        if not each.args:
            return numbers.setdefault(each.head, len(numbers))
        return (each.head, *map(renamed, each.args))

    return tuple(map(renamed, (*left, *right)))


def form_of(found: Substitution) -> tuple[object, ...]:
    lefts, rights = zip(*found.outputs, strict=True)
    return canonical(
        tuple(term(found.left, tensor) for tensor in lefts),
        tuple(term(found.right, tensor) for tensor in rights),
    )


def published_form(equation: Equation) -> tuple[object, ...]:
    return canonical(equation.left, equation.right)


def test_the_file_holds_the_published_rules_and_no_others() -> None:
    wanted = Counter(map(published_form, (e for n, e in equations().items() if _is_learned(n))))
    assert Counter(map(form_of, substitutions())) == wanted


def _is_learned(number: str) -> bool:
    """R1 to R4, M14 and M15 are TENSAT's own."""
    return number[0] == "S" or (number[0] == "M" and int(number[1:]) <= 13)


def test_all_of_it_is_expressed_and_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "taso.tsat"
    assert main(["import", str(FILE), "-o", str(rules)]) == ExitCode.OK
    assert capsys.readouterr().out == f"133 of 133 substitutions are rules in {rules}\n"
    assert main(["check", str(rules)]) == ExitCode.OK
    assert len({rule.base for rule in load_rules(str(rules)).rules}) == 133


def _numbered(wanted: frozenset[str]) -> list[int]:
    """The places in the file of published rules."""
    forms = {published_form(equations()[number]) for number in wanted if _is_learned(number)}
    return [place for place, found in enumerate(substitutions()) if form_of(found) in forms]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_wrong_ones_are_found_and_no_others(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the settings that everybody has."""
    wrong = set(_numbered(UNGROUPED | GROUPED | WEIGHTS | wrong_where_broadcast()))
    assert len(wrong) == 4 + 7 + 4 + 14
    right = [place for place in range(seed, 133, 12) if place not in wrong]
    rules = tmp_path / "taso.tsat"
    rules.write_text(compose(substitutions(), FILE.name).text)
    program = load_rules(str(rules))
    monkeypatch.setattr(check, "shrink", lambda subject, found, seed: found)
    settings = Settings(seed=seed, conditions=False, cache=False, processes=1)
    names = [f"taso_{place}" for place in (*sorted(wrong), *right)]
    verdicts = verify_program(program, chosen(program, names), settings)
    refuted = {verdict.rule for verdict in verdicts if verdict.status is Status.REFUTED}
    assert refuted == {f"taso_{place}" for place in wrong}
