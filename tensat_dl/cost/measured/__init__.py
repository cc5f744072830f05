"""Costs that are measured: what is timed, how, where it is kept, and when it is enough."""
