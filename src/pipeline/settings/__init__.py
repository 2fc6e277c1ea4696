"""Settings: YAML files as strict, frozen classes. Nothing here computes; importing it is quick."""
