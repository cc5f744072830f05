"""Why a rule did, or did not: left sides matched again, in Python, over the explored e-graph."""
