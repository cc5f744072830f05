"""The `test` blocks of rule files, run: a small graph is explored, what is claimed of it judged."""
