"""Mechanisms: how a sum over records leaves the data, with or without privacy."""
