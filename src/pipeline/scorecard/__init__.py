"""Claims of the papers held against metrics: one by one, and as a scorecard."""
