"""One substitution as a rule.

Enters: a substitution, the rule's name.  Leaves: its text, and the virtual operators it needs.
Raises Inexpressible.

What TASO leaves open stays open: a convolution has any number of groups on the left, and on the
right as many as its input has channels for each of its weights'; sums and products broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase

from tensat_dl.taso.codes import Activation, Operator, Parameter
from tensat_dl.taso.graph import Inexpressible, Part, Side, make_sides
from tensat_dl.taso.ranks import Rank, ranks_of
from tensat_dl.taso.read import Substitution, Tensor
from tensat_dl.taso.sizes import Sizes

_ELEMENTARY = {
    Operator.EW_ADD: "Add",
    Operator.EW_MUL: "Mul",
    Operator.MUL: "Mul",
    Operator.RELU: "Relu",
    Operator.SIGMOID: "Sigmoid",
    Operator.TANH: "Tanh",
}
_ACTIVATIONS = {Activation.RELU: "Relu", Activation.SIGMOID: "Sigmoid", Activation.TANH: "Tanh"}


@dataclass(frozen=True)
class Translation:
    """`virtual`: operators with an activation, as (`Conv`, `Relu`)."""

    text: str
    virtual: frozenset[tuple[str, str]]


def translate(substitution: Substitution, name: str) -> Translation:
    """The rule that says what the substitution says.  Raises Inexpressible."""
    left, right = make_sides(substitution)
    names = _variable_names(left)
    roots = [f"y{number}" for number in range(1, len(left.outputs) + 1)]
    sources = _Writer(left, names, _types(left, right, names))
    targets = _Writer(right, names, None)
    matches, emits = list(sources.statements(roots)), list(targets.statements(roots))
    virtual = frozenset(sources.virtual | targets.virtual)
    if len(matches) == len(emits) == 1 and len(roots) == 1:
        ends = (statement.removeprefix("y1 = ") for statement in (*matches, *emits))
        return Translation(f"@real\nrewrite {name}: {' => '.join(ends)}\n", virtual)
    match, emit = "\n".join(matches), "\n".join(emits)
    return Translation(f"@real\nrule {name} {{ match {{ {match} }} emit {{ {emit} }} }}\n", virtual)


def _variable_names(left: Side) -> dict[Tensor, str]:
    found = dict.fromkeys(left.variables())
    return {
        tensor: ascii_lowercase[n] if len(found) <= len(ascii_lowercase) else f"x{n + 1}"
        for n, tensor in enumerate(found)
    }


def _types(left: Side, right: Side, names: Mapping[Tensor, str]) -> dict[Tensor, list[str]]:
    """The dims of each variable as they are written; none where nothing is known of them."""
    types = {variable: _dims(rank) for variable, rank in ranks_of(left, right).items()}
    for part in left.parts:
        weights = part.inputs[-1]
        if part.operator is Operator.CONV2D and weights in names:
            types[weights] = _with_kernel(types[weights], part)
    return types


def _dims(rank: Rank) -> list[str]:
    return ["_"] * rank.rank if rank.rank is not None else [f"*B{rank.group}", "_", "_"]


def _with_kernel(dims: list[str], part: Part) -> list[str]:
    kernel = [str(size) for size in part.kernel]
    if dims[2:] not in (["_", "_"], kernel):
        raise Inexpressible("one weight would have kernels of two sizes")
    return [*dims[:2], *kernel]


@dataclass
class _Writer:
    """Writes one side.  `types`: of the variables where they stand first, on the left side."""

    side: Side
    names: Mapping[Tensor, str]
    types: dict[Tensor, list[str]] | None
    virtual: set[tuple[str, str]] = field(default_factory=set)
    bound: dict[Tensor, str] = field(default_factory=dict)

    @property
    def is_left(self) -> bool:
        return self.types is not None

    def statements(self, roots: list[str]) -> Iterator[str]:
        """`name = term`: one for each root, and for what is read more than once or split."""
        outputs = self.side.outputs
        named = dict(zip(outputs, roots, strict=True))
        single = len(set(outputs)) == len(outputs)
        letter = "t" if self.is_left else "u"
        for index, part in enumerate(self.side.parts):
            made = [Tensor(index, output) for output in range(part.outputs)]
            own = [named.get(t, "") if single else "" for t in made]
            if self._stands_alone(part, made):
                wanted = [o or f"{letter}{index + 1}_{n}" for n, o in enumerate(own)]
                text = self._operator(part)
                self.bound |= dict(zip(made, wanted, strict=True))
                yield f"{', '.join(wanted)} = {text}"
        for tensor, root in zip(outputs, roots, strict=True):
            if self.bound.get(tensor) != root:
                yield f"{root} = {self._term(tensor)}"

    def _stands_alone(self, part: Part, made: list[Tensor]) -> bool:
        if part.operator is Operator.SPLIT:
            return True
        reads = self.side.uses[made[0]]
        shown = self.side.outputs.count(made[0])
        return reads + shown > 1 or (shown == 1 and len(self.side.outputs) > 1)

    def _term(self, tensor: Tensor) -> str:
        if tensor in self.bound:
            return self.bound[tensor]
        part = self.side.part(tensor)
        if part is not None:
            return self._operator(part)
        dims = self.types.pop(tensor, None) if self.types else None
        return self.names[tensor] + (f": _[{', '.join(dims)}]" if dims is not None else "")

    def _operator(self, part: Part) -> str:
        match part.operator:
            case Operator.CONV2D:
                return self._convolution(part)
            case Operator.MATMUL:
                name = self._with_activation("MatMul", part)
                return f"{name}({self._arguments(part)})"
            case Operator.CONCAT:
                return self._concatenation(part)
            case Operator.SPLIT:
                return self._split(part)
            case Operator.TRANSPOSE:
                return f"Transpose({self._arguments(part)}, perm={list(part.permutation)})"
            case Operator.POOL2D_MAX:
                return self._pooling(part)
            case Operator.ENLARGE:
                return self._enlarged(part)
        return f"{_ELEMENTARY[part.operator]}({self._arguments(part)})"

    def _arguments(self, part: Part) -> str:
        return ", ".join(self._term(tensor) for tensor in part.inputs)

    def _with_activation(self, name: str, part: Part) -> str:
        if part.activation is Activation.NONE:
            return name
        activation = _ACTIVATIONS[part.activation]
        self.virtual.add((name, activation))
        return name + activation

    def _convolution(self, part: Part) -> str:
        x, w = part.inputs
        image, weights = self._term(x), self._term(w)
        group = "_" if self.is_left else self._groups(x, w)
        if self.is_left and (w.operator >= 0):
            weights += f": _[_, _, {part.kernel[0]}, {part.kernel[1]}]"
        name = self._with_activation("Conv", part)
        return f"{name}({image}, {weights}, group={group}{_window(part)})"

    def _groups(self, x: Tensor, w: Tensor) -> str:
        sizes = Sizes(self.side, self.names)
        return "1" if x == w else f"({sizes.dim(x, 1)}) // ({sizes.dim(w, 1)})"

    def _concatenation(self, part: Part) -> str:
        axis, rank = part.number(Parameter.AXIS, 0), part.number(Parameter.NUMDIM, 1)
        if axis >= rank:
            raise Inexpressible(f"tensors of rank {rank} have no axis {axis}")
        return f"Concat({self._arguments(part)}, axis={axis})"

    def _split(self, part: Part) -> str:
        if self.is_left:
            raise Inexpressible("where the left side splits a tensor is not said")
        if part.outputs != 2:
            raise Inexpressible(f"a tensor is split into {part.outputs} parts")
        axis = part.number(Parameter.AXIS, 0)
        first, second = Sizes(self.side, self.names).joint(part.inputs[0], axis)
        return f"Split({self._arguments(part)}, i64([{first}, {second}]), axis={axis})"

    def _pooling(self, part: Part) -> str:
        if part.activation is not Activation.NONE:
            raise Inexpressible("the rule language has no pooling with an activation")
        kernel = f"kernel_shape={list(part.kernel)}"
        return f"MaxPool({self._arguments(part)}, {kernel}{_window(part)})"

    def _enlarged(self, part: Part) -> str:
        if self.is_left:
            raise Inexpressible("enlarged weights cannot be matched")
        sizes, w = Sizes(self.side, self.names), part.inputs[0]
        before, behind = [], []
        for axis, size in zip((2, 3), part.kernel, strict=True):
            grown = f"{size} - ({sizes.dim(w, axis)})"
            before.append(f"({grown}) // 2")
            behind.append(f"({grown} + 1) // 2")
        return f"Pad({self._term(w)}, i64([0, 0, {', '.join(before)}, 0, 0, {', '.join(behind)}]))"


def _window(part: Part) -> str:
    """Strides and pads, where they are not the defaults."""
    strides, pads = list(part.strides), list(part.pads)
    text = "" if strides == [1, 1] else f", strides={strides}"
    return text if not any(pads) else f"{text}, pads={pads}"
