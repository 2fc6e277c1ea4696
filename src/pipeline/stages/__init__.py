"""Stages of the pipeline: one small entry module for each verb of the command line.

Each module has `add_arguments(parser)` and `main(arguments)`, reads artifacts and writes artifacts. It
imports only what its verb needs, since the digest of its imports decides what is rerun after an edit.
"""
