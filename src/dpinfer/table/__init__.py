"""A private posterior of one's own model on one's own table: `dpinfer fit model.py data.csv --epsilon 1 ...`."""
