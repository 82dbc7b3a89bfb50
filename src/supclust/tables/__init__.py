"""Results to tables: means over splits, significance, formats, the paper beside ours."""
