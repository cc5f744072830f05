"""The command line: the only part that prints, asks the terminal, and exits."""
