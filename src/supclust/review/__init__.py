"""People and a store: why records are together, which merges to ask about, and the answers."""
