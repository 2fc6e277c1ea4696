# Hold every claim against the metrics, and show all on one page, and in small beside the documentation.


rule scorecard:
    """Compare every claim of the papers with our results."""
    input:
        claims=PLAN.claim_files,
        tables=PLAN.tables,
        metrics=PLAN.all_metrics,
    output:
        csv=f"{PLAN.results}/scorecard.csv",
        markdown=report(f"{PLAN.results}/scorecard.md", category="Scorecard"),
        stamp=f"{PLAN.results}/scorecard.json",
    log:
        f"{PLAN.results}/logs/scorecard.log",
    benchmark:
        f"{PLAN.results}/benchmarks/scorecard.tsv"
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=10,
    params:
        code=PLAN.code("scorecard"),
    message:
        "Comparing every claim of the papers with our results"
    shell:
        "python -m pipeline scorecard --claims {input.claims:q} --tables {input.tables:q}"
        " --metrics {input.metrics:q} --code {params.code} --output {output.csv:q} 2> {log:q}"


rule report:
    """One page with the scorecard and every figure."""
    input:
        scorecard=f"{PLAN.results}/scorecard.csv",
        doubts=str(ROOT / "config/doubts.yaml"),
        figures=[f"{PLAN.results}/figures/{figure}.png" for figure in PLAN.figures()],
    output:
        page=f"{PLAN.results}/report.html",
        stamp=f"{PLAN.results}/report.json",
    log:
        f"{PLAN.results}/logs/report.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=10,
    params:
        papers=contents(PLAN),
        code=PLAN.code("report"),
    message:
        "Writing the report"
    shell:
        "python -m pipeline report {params.papers:q} --scorecard {input.scorecard:q} --doubts {input.doubts:q}"
        " --figures {input.figures:q} --code {params.code} --output {output.page:q} 2> {log:q}"


rule gallery:
    """Small pictures of all figures beside their claims, for the documentation."""
    input:
        scorecard=f"{PLAN.results}/scorecard.csv",
        figures=[f"{PLAN.results}/figures/{figure}.png" for figure in PLAN.figures()],
    output:
        page=f"{gallery_folder(PLAN)}/README.md",
        scorecard=f"{gallery_folder(PLAN)}/scorecard.csv",
        pictures=[f"{gallery_folder(PLAN)}/{figure}.png" for figure in PLAN.figures()],
    log:
        f"{PLAN.results}/logs/gallery.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        papers=contents(PLAN),
        code=PLAN.code("gallery"),
    message:
        "Writing the gallery of figures"
    shell:
        "python -m pipeline gallery {params.papers:q} --scorecard {input.scorecard:q} --figures {input.figures:q}"
        " --code {params.code} --output {output.page:q} 2> {log:q}"
