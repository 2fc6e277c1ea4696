"""Metrics: one module for each, which bears the name used in settings and has one of these functions.

* `metric(key, model, sample, test)`: of the end of a run; `sample(key)` draws parameters from one seed's
  approximate posterior.
* `spread(key, model, sample, test)`: the same at several places; `places(model, sample)` gives their columns.
* `curve(key, model, trace, train, test)`: for every recording of a run, as it was known and paid for by then.
* `whole(key, model, trace, train, test)`: of the whole run, a number or one for every recording, all of which cost
  what the whole run costs.

The result is an array, or several by name. Each also takes a `reference`, where the module has
`reference(settings, model, train)`, which is computed once for all seeds.
"""
