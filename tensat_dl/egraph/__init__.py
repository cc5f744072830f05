"""The e-graph: rules and graph as an egglog program, explored, copied out."""
