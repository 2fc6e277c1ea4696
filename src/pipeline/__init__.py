"""The pipeline: every figure, table and claim of five papers, recomputed from data to picture."""
