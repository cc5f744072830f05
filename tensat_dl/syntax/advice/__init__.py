"""Help for texts that do not fit the grammar: one module for each kind of mistake."""
