"""Solvers: the table of those known, how each is run, and the process they run in.

`session.py` starts that process, and inside it `glpsol.py` the program of GLPK.  Only modules that
run inside import Pyomo, apart from `table.py` when it asks Pyomo which solvers exist.
"""
