"""The semantic checker, one module a subject; `check.program` is the way in."""
