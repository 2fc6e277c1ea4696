"""Commands for you: one small entry module for each verb that answers a question about privacy.

Like a stage, a verb's module has `add_arguments(parser)` and `main(arguments)`; unlike a stage, it prints its
answer. `values`, `options` and `show` are what they share; `tradeoff` belongs to `advise`.
"""
