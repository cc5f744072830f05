"""Exact reductions of a graph, one job a module; `table.py` puts them in order."""
