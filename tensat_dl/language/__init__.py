"""From syntax trees to a checked program: names, safety, types, flat rules, evaluation."""
