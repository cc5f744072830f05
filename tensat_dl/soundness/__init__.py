"""Does a rule hold?  Instances of its left side, both sides evaluated, the answers compared.

`check` is the way in for one rule, `run` for a program.
"""
