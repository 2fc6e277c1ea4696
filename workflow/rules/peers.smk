# Time one private step by every library, each in an environment of its own. Not part of the default run.
PEERS = ["d3p", "jax_privacy", "opacus", "tf_privacy"]


rule peer_environment:
    """Install another library in an environment of its own."""
    input:
        "benchmarks/peers/requirements/{peer}.txt",
    output:
        f"{PLAN.results}/peers/{{peer}}.json",
    log:
        f"{PLAN.results}/logs/peers/install_{{peer}}.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 2000 * attempt,
        runtime=60,
    params:
        environment=lambda wildcards, output: Path(output[0]).with_suffix(""),
    message:
        "Installing {wildcards.peer} in an environment of its own"
    shell:
        "python benchmarks/peers/install.py {input:q} --environment {params.environment:q} --output {output:q}"
        " 2> {log:q}"


rule measure_peers:
    """Time one private step by every library."""
    input:
        environments=expand(f"{PLAN.results}/peers/{{peer}}.json", peer=PEERS),
        scripts=sorted(str(path) for path in Path("benchmarks/peers").glob("*_step.py")),
    output:
        table=f"{PLAN.results}/tables/peers.csv",
        shown=f"{PLAN.results}/tables/peers.md",
    log:
        f"{PLAN.results}/logs/peers/measure.log",
    conda:
        ENVIRONMENT
    threads: 64
    resources:
        mem_mb=lambda wildcards, attempt: 16000 * attempt,
        runtime=120,
    params:
        logs=lambda wildcards, output: Path(output.table).parent.parent / "logs/peers",
    message:
        "Timing one private step by every library"
    shell:
        "python benchmarks/peers/measure.py {input.environments:q} --logs {params.logs:q} --output {output.table:q}"
        " 2> {log:q}"


rule measure_clipping:
    """Time private steps of networks of Flax, Equinox, Haiku and NumPyro over plain ones."""
    input:
        script="benchmarks/clipped_steps.py",
        networks="benchmarks/networks.py",
    output:
        f"{PLAN.results}/tables/clipping.csv",
    log:
        f"{PLAN.results}/logs/peers/clipping.log",
    conda:
        ENVIRONMENT
    threads: 64
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    message:
        "Timing private steps of networks of other libraries"
    shell:
        "python {input.script:q} --output {output:q} 2> {log:q}"


rule draw_peers:
    """Draw the times of all libraries."""
    input:
        table=f"{PLAN.results}/tables/peers.csv",
        script="benchmarks/peers/draw.py",
    output:
        pdf=f"{PLAN.results}/figures/peers.pdf",
        png=f"{PLAN.results}/figures/peers.png",
        stamp=f"{PLAN.results}/figures/peers.json",
    log:
        f"{PLAN.results}/logs/peers/draw.log",
    conda:
        ENVIRONMENT
    threads: 1
    resources:
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=5,
    message:
        "Drawing the times of all libraries"
    shell:
        "python -m pipeline figure {input.script:q} --metrics {input.table:q} --output {output.pdf:q} 2> {log:q}"


rule agree_with_d3p:
    """Compare d3p's loss with ours."""
    input:
        environment=f"{PLAN.results}/peers/d3p.json",
        data=f"{PLAN.results}/data/mnist.npz",
        ours=f"{PLAN.results}/metrics/small_vae.csv",
        script="benchmarks/peers/d3p_loss.py",
    output:
        f"{PLAN.results}/tables/agreement.csv",
    log:
        f"{PLAN.results}/logs/peers/agreement.log",
    conda:
        ENVIRONMENT
    threads: 64
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=60,
    message:
        "Comparing d3p's loss with ours"
    shell:
        "python benchmarks/peers/agree.py {input.environment:q} {input.data:q} {input.ours:q} --output {output:q}"
        " 2> {log:q}"


rule peers:
    """Compare our private step with those of other libraries (not part of a default run)."""
    input:
        rules.agree_with_d3p.output,
        rules.measure_peers.output,
        rules.measure_clipping.output,
        rules.draw_peers.output,
