# Run a cell's algorithm for all its seeds, with as many cores as there are.


rule fit:
    input:
        data=lambda wildcards: f"{PLAN.results}/data/{PLAN.data_of(wildcards.experiment, wildcards.cell)}.npz",
        calibration=f"{PLAN.results}/calibration/{{experiment}}/{{cell}}.json",
    output:
        fit=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/fit.npz",
        ledger=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/ledger.json",
        stamp=f"{PLAN.results}/fits/{{experiment}}/{{cell}}/stamp.json",
    log:
        f"{PLAN.results}/logs/fit/{{experiment}}/{{cell}}.log",
    benchmark:
        f"{PLAN.results}/benchmarks/fit/{{experiment}}/{{cell}}.tsv"
    conda:
        ENVIRONMENT
    # Two fits at once on the same cores take ten times as long as one after the other.
    threads: 8
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        code=lambda wildcards: PLAN.cell_code("fit", wildcards.experiment, wildcards.cell),
    shell:
        "python -m dpinfer fit --data {input.data:q} --calibration {input.calibration:q}"
        " --code {params.code} --output {output.fit:q} 2> {log:q}"
