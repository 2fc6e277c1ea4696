"""Figures: drawn from CSV files alone, so that drawing never needs JAX."""
