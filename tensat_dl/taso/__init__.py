"""TASO's substitutions, as rules of the rule language.

`read` gives what a file holds, `graph` what a substitution says, `translate` the text of a rule
or why there is none, `compose` the text of a rule file.
"""
