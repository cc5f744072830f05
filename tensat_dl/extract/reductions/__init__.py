"""Exact reductions of a Work graph, one job a module; `table.py` puts them in order."""
