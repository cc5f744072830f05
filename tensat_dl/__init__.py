"""Write down how tensor graphs may be rewritten, and get the best graph back."""
