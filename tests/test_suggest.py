"""What is offered in place of a name that is none."""

from __future__ import annotations

from tensat_dl.suggest import nearest_or_all

MANY = [f"a.b{number}" for number in range(10, 50)]


def test_a_near_name_is_offered() -> None:
    assert nearest_or_all("mul_zero", [*MANY, "identity.mul_zero"]) == (
        "did you mean `identity.mul_zero`?"
    )


def test_of_many_names_those_most_like_it_come_first() -> None:
    """`untimely` has 4 letters of `zero_times`, which is twice 4 of 18; `product_of_zero` as many,
    twice 4 of 25; no other has any."""
    found = nearest_or_all("zero_times", [*MANY, "x.product_of_zero", "x.untimely"])
    assert found.startswith("there are: x.untimely, x.product_of_zero, a.b10, a.b11, ")
    assert found.endswith(" and 12 more")


def test_a_few_names_stand_in_their_order() -> None:
    assert nearest_or_all("zzz", ["b", "z", "a"]) == "there are: a, b, z"
