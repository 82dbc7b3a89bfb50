"""Candidate pairs of a table without blocks: keys of records, rules, and how rules are chosen."""
