"""Solvers: the table of those known, how each is run, and the process they run in.

Only `session.py` starts processes; only the modules that run inside that process import Pyomo,
apart from `table.py` when it asks Pyomo which solvers exist.
"""
