"""Records with columns: kinds of columns, comparisons, text encoding."""
