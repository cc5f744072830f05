"""What can be said of a correct rule beside the others: implied, growing, or without a use."""
