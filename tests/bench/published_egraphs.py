"""The e-graphs that others published, and what is known of their extraction."""

from pathlib import Path

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "egraphs"
#: Proven optima, from several routes that agree.
OPTIMA = {
    "vgg_acyclic": 4.866775,
    "vgg": 4.850757,
    "resnet50_acyclic": 4.415993,
    "resnet50": 4.385795,
    "bert_acyclic": 0.708439,
    "bert": 0.704720,
    "nasrnn_acyclic": 1.068570,
    "nasrnn": 0.944755,
    "nasneta_acyclic": 11.247721,
    "nasneta": 11.199453,
}
#: What the greedy tree costs.
GREEDY = {
    "vgg_acyclic": 4.866775,
    "vgg": 4.852382,
    "resnet50_acyclic": 4.425745,
    "resnet50": 4.396867,
    "bert_acyclic": 0.827000,
    "bert": 0.824704,
    "nasrnn_acyclic": 1.089810,
    "nasrnn": 0.972425,
    "nasneta_acyclic": 16.358455,
    "nasneta": 16.374893,
}
