# The pipeline is in workflow/Snakefile; with this file, `snakemake` finds it from here.
include: "workflow/Snakefile"


localrules:
    default,


# Of included files, Snakemake takes no default.
rule default:
    """What `snakemake` makes if no target is named."""
    default_target: True
    input:
        rules.all.input,
