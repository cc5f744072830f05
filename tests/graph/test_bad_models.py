"""What cannot be read gives one clear message."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from tensat_dl.errors import InputError, UsageError
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.settings import ModelSettings

HEAD = '<ir_version: 9, opset_import: ["": 18]>'


def read(model: object) -> None:
    read_model(model, ModelSettings())  # type: ignore[arg-type]


def graph(nodes: list[onnx.NodeProto], outputs: list[str], **more: object) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in outputs]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    body = helper.make_graph(nodes, "g", [x], values, **more)  # type: ignore[arg-type]
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello, this is text\n" * 20, "is not an ONNX model"),
        (b"\x08\x09", "has no graph"),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read(path)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "none.onnx")
    with pytest.raises(InputError, match="is a directory"):
        read(tmp_path)


def test_truncated_file(tmp_path: Path) -> None:
    model = parser.parse_model(HEAD + "g (float[3] x) => (float[3] y) { y = Relu(x) }")
    content = model.SerializeToString()
    path = tmp_path / "m.onnx"
    for length in range(1, len(content) - 12, 7):
        path.write_bytes(content[:length])
        with pytest.raises(InputError):
            read(path)


def test_no_outputs() -> None:
    with pytest.raises(InputError, match="no graph outputs"):
        read(graph([helper.make_node("Relu", ["x"], ["y"])], []))


def test_value_defined_twice() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], name="a"),
        helper.make_node("Neg", ["x"], ["y"], name="b"),
    ]
    with pytest.raises(InputError, match="'y' is defined twice: by Relu node 'a' and by Neg node"):
        read(graph(nodes, ["y"]))


def test_value_that_is_an_input_too() -> None:
    with pytest.raises(InputError, match="'x' is defined twice: by a graph input"):
        read(graph([helper.make_node("Relu", ["x"], ["x"])], ["x"]))


def test_unknown_input_name() -> None:
    with pytest.raises(InputError, match="Relu node number 0 reads 'q', which nothing defines"):
        read(graph([helper.make_node("Relu", ["q"], ["y"])], ["y"]))


def test_unknown_name_in_a_subgraph() -> None:
    inner = helper.make_graph(
        [helper.make_node("Relu", ["q"], ["z"])],
        "inner",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [3])],
    )
    c = numpy_helper.from_array(np.array(True), "c")
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    with pytest.raises(InputError, match="reads 'q'"):
        read(graph([node], ["y"], initializer=[c]))


def test_text_that_is_no_text() -> None:
    model = graph([helper.make_node("Relu", ["x"], ["y"], name="NAME", doc_string="TEXT")], ["y"])
    for word in (b"NAME", b"TEXT"):
        content = model.SerializeToString().replace(word, b"\xff\xfe\xfd\xfc")
        with pytest.raises(InputError, match="not UTF-8 text"):
            read(onnx.ModelProto.FromString(content))


def test_attributes_without_a_type_and_impossible_versions() -> None:
    model = graph([helper.make_node("LeakyRelu", ["x"], ["y"], alpha=0.5)], ["y"])
    model.opset_import[0].version = 1 << 40
    with pytest.raises(InputError, match="which is no version"):
        read(model)
    model.opset_import[0].version = 17
    model.graph.node[0].attribute[0].ClearField("type")
    with pytest.raises(InputError, match="the attribute 'alpha' of a node has no type"):
        read(model)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which is killed where it does not end."""
    command = [sys.executable, "-m", "tensat_dl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize("equation", ["ij.->i", "....->...", "i...->..."])
def test_equations_that_onnx_reads_forever(equation: str, tmp_path: Path) -> None:
    """In a branch that is not looked at otherwise; the last one is good."""
    nodes = [helper.make_node("Einsum", ["v"], ["y"], equation=equation)]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    inner = helper.make_graph(nodes, "inner", [], [y])
    choice = helper.make_node("If", ["c"], ["z"], then_branch=inner, else_branch=inner)
    given = [
        helper.make_tensor_value_info("v", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    z = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    body = helper.make_graph([choice], "g", given, [z])
    path = tmp_path / "m.onnx"
    opset = helper.make_opsetid("", 18)
    onnx.save(helper.make_model(body, opset_imports=[opset], ir_version=9), path)
    done = run("run", "tensat", str(path))
    good = equation == "i...->..."
    assert done.returncode == (0 if good else 3), done.stderr
    assert good or "the Einsum node that makes 'y': `" in done.stderr


@pytest.mark.slow
def test_a_rule_with_an_equation_that_onnx_reads_forever(tmp_path: Path) -> None:
    rules = tmp_path / "r.tsat"
    right = 'Einsum(x, y, equation="i.j,jk->ik")'
    rules.write_text(f"language 1\nrewrite r: MatMul(x: f32[M, K], y: f32[K, N]) => {right}\n")
    done = run("check", str(rules))
    assert done.returncode == 4
    assert "`i.j` in its equation is more than letters and one `...`" in done.stderr


def test_of_initializers_of_one_name_the_last_counts() -> None:
    """As in onnxruntime, which gives 3 + 5 here."""
    arrays = (np.full(3, value, np.float32) for value in (4, 5))
    weights = [numpy_helper.from_array(array, "w") for array in arrays]
    model = graph([helper.make_node("Add", ["x", "w"], ["y"])], ["y"], initializer=weights)
    given = read_model(model, ModelSettings())
    assert given.constants["w"].load().tolist() == [5, 5, 5]
    assert "initializer 'w' is defined 2 times" in given.source.warnings[0]
    assert len(build_proto(given).graph.initializer) == 1


def test_unknown_output_name() -> None:
    with pytest.raises(InputError, match="graph output 'z' is defined by nothing"):
        read(graph([helper.make_node("Relu", ["x"], ["y"])], ["z"]))


def test_cycle_names_a_node_on_it() -> None:
    nodes = [
        helper.make_node("Relu", ["b"], ["after"], name="after"),
        helper.make_node("Add", ["x", "b"], ["a"], name="one"),
        helper.make_node("Neg", ["a"], ["b"], name="two"),
    ]
    with pytest.raises(InputError, match=r"cycle: (Add node 'one'|Neg node 'two')"):
        read(graph(nodes, ["after"]))


def external(tmp_path: Path, location: str, length: int = 12) -> Path:
    w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3])
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key="location", value=location)
    w.external_data.add(key="length", value=str(length))
    model = graph([helper.make_node("Add", ["x", "w"], ["y"])], ["y"], initializer=[w])
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def test_external_data_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"w\.bin of tensor 'w' does not exist"):
        read(external(tmp_path, "w.bin"))


def test_external_data_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="of tensor 'w' does not exist"):
        read(external(tmp_path, "."))


@pytest.mark.parametrize("offset", ["abc", "-5", "9" * 40, ""])
def test_external_data_at_no_place(tmp_path: Path, offset: str) -> None:
    path = external(tmp_path, "w.bin")
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer[0].external_data.add(key="offset", value=offset)
    path.write_bytes(model.SerializeToString())
    (tmp_path / "w.bin").write_bytes(bytes(12))
    with pytest.raises(InputError, match="the offset of the external data of tensor 'w'"):
        read(path)


def test_external_data_cut_short(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"\0" * 11)
    with pytest.raises(InputError, match="cut short: tensor 'w' ends at byte 12, the file at 11"):
        read(external(tmp_path, "w.bin"))


def test_external_data_outside_the_folder(tmp_path: Path) -> None:
    for location in ("../w.bin", "a/../../w.bin", "/etc/passwd"):
        with pytest.raises(InputError, match="outside the folder of the model"):
            read(external(tmp_path, location))


def test_external_data_of_a_model_without_a_place(tmp_path: Path) -> None:
    model = onnx.load(external(tmp_path, "w.bin"), load_external_data=False)
    with pytest.raises(InputError, match="where that is is not known"):
        read(model)


def test_a_dim_that_the_model_does_not_have() -> None:
    model = parser.parse_model(HEAD + "g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }")
    with pytest.raises(UsageError, match="no symbolic dim 'M'") as caught:
        read_model(model, ModelSettings(dims={"M": 1}))
    assert caught.value.help == "it has: N"


@pytest.mark.parametrize(
    "odd",
    [
        helper.make_node("Foo", ["x"], ["z"], domain="nowhere"),
        helper.make_node("Relu", [], ["z"]),
    ],
    ids=["domain without an opset", "no inputs"],
)
def test_nodes_that_nobody_can_run_are_left_as_they_are(odd: onnx.NodeProto) -> None:
    model = graph([odd, helper.make_node("Relu", ["x"], ["y"])], ["y"])
    read_nodes = read_model(model, ModelSettings()).nodes
    assert [node.operator.name for node in read_nodes] == [odd.op_type, "Relu"]


def test_a_conditional_without_a_condition_is_left_as_it_is() -> None:
    branch = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["z"])],
        "branch",
        [],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [3])],
    )
    for inputs in ([], [""]):
        odd = helper.make_node("If", inputs, ["y"], then_branch=branch, else_branch=branch)
        (node,) = read_model(graph([odd], ["y"]), ModelSettings()).nodes
        assert node.operator.name == "If"


def test_a_branch_whose_element_type_is_none_is_left_as_it_is() -> None:
    usual, odd = (
        helper.make_graph(
            [helper.make_node("Neg", ["x"], ["w"])],
            "branch",
            [],
            [helper.make_tensor_value_info("w", code, [3])],
        )
        for code in (TensorProto.FLOAT, 77)
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=usual, else_branch=odd)
    model = graph([node], ["y"])
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    assert [node.operator.name for node in read_model(model, ModelSettings()).nodes] == ["If"]


def test_a_place_of_data_that_is_no_text(tmp_path: Path) -> None:
    """Protobuf hands out the bytes where they are not UTF-8."""
    w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[300])
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key="location", value="nowhere.bin")
    node = helper.make_node("Add", ["x", "w"], ["y"])
    content = graph([node], ["y"], initializer=[w]).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(content.replace(b"nowhere", b"nowh\xffre"))
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "m.onnx")


def test_a_node_without_outputs() -> None:
    nodes = [helper.make_node("Neg", ["x"], []), helper.make_node("Relu", ["x"], ["y"])]
    with pytest.raises(InputError, match="Neg node number 0 has no outputs"):
        read(graph(nodes, ["y"]))


def test_a_model_without_opsets_is_left_as_it_is() -> None:
    model = graph([helper.make_node("Relu", ["x"], ["y"])], ["y"])
    del model.opset_import[:]
    assert len(read_model(model, ModelSettings()).nodes) == 1


@pytest.mark.parametrize(
    "content", [{"raw_data": b"abc"}, {"raw_data": bytes(16)}, {"float_data": [1.0, 2.0]}]
)
def test_tensors_without_all_their_data(content: dict[str, object]) -> None:
    w = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3], **content)
    node = helper.make_node("Add", ["x", "w"], ["y"])
    with pytest.raises(InputError, match=r"tensor 'w' of dims \[3\] holds more or less"):
        read(graph([node], ["y"], initializer=[w]))
