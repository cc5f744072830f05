"""Bytes by operator, against sizes worked out by hand."""

import pytest

from tensat_dl.cost.bytes_moved import QUESTIONS, SELECTIONS, VIEWS, bytes_moved
from tensat_dl.cost.shapes import NOTHING, UNKNOWN, Shapes, Tensor
from tensat_dl.vocabulary import catalog


def moved(name: str, inputs: list[Tensor], *outputs: Tensor) -> float:
    operator = catalog.operator(name)
    assert operator is not None
    return bytes_moved(operator, Shapes(tuple(inputs), outputs, {}))


def test_each_input_is_read_and_each_output_written_once() -> None:
    a, b, y = Tensor((3, 4)), Tensor((4, 5)), Tensor((3, 5))
    assert moved("MatMul", [a, b], y) == 4 * (12 + 20 + 15)
    assert moved("Split", [Tensor((6,)), Tensor((2,), 64)], Tensor((2,)), Tensor((4,))) == 64


def test_a_tensor_at_two_inputs_is_read_once() -> None:
    x, operator = Tensor((2, 3)), catalog.operator("Mul")
    assert operator is not None
    assert bytes_moved(operator, Shapes((x, x), (x,), {})) == 3 * 24
    assert bytes_moved(operator, Shapes((x, x), (x,), {}, repeats=(1,))) == 2 * 24


def test_element_types_count_by_their_bits() -> None:
    assert moved("Cast", [Tensor((5,), 4)], Tensor((5,), 16)) == 3 + 10


def test_a_missing_input_and_an_unknown_tensor_move_nothing() -> None:
    assert moved("Clip", [Tensor((5,)), NOTHING, NOTHING], Tensor((5,))) == 40
    assert moved("Relu", [UNKNOWN], UNKNOWN) == 0


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_views_move_nothing(name: str) -> None:
    assert moved(name, [Tensor((5, 5))], Tensor((25,))) == 0


def test_a_selection_reads_what_it_writes() -> None:
    table, indices = Tensor((30_000, 8)), Tensor((2,), 64)
    assert moved("Gather", [table, indices], Tensor((2, 8))) == 2 * (4 * 16) + 16
    # Gathering more than there is reads the whole only once.
    assert moved("Gather", [Tensor((2,)), Tensor((9,), 64)], Tensor((9,))) == 8 + 72 + 36


def test_a_question_about_dims_does_not_read_the_tensor() -> None:
    assert moved("Shape", [Tensor((100, 100))], Tensor((2,), 64)) == 16


def test_another_domain_has_no_views() -> None:
    foreign = catalog.opaque("com.acme", "Reshape", 1)
    assert bytes_moved(foreign, Shapes((Tensor((5,)),), (Tensor((5,)),), {})) == 40


def test_the_tables_name_operators_that_exist() -> None:
    assert set(catalog.names()) >= (VIEWS | SELECTIONS | QUESTIONS)
