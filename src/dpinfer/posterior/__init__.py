"""What follows from draws of an approximate posterior."""
