"""The text of rule files: grammar, syntax tree, parser, printer."""
