"""Reading and writing tables: CSV, TSV, Parquet, npz."""
