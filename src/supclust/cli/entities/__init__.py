"""Commands of an entity store."""
