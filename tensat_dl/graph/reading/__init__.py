"""A model, lifted to the vocabulary."""
