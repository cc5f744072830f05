"""What an operator application costs: work by formula, models over work, models of rule files."""
