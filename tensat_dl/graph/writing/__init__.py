"""A graph as a model, and on disk."""
