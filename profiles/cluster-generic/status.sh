#!/bin/sh
# Tell Snakemake how a SLURM job is doing: running, success or failed. Write the like for another scheduler.

state=$(scontrol --oneliner show job "$1" 2> /dev/null | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p')
# The controller forgets jobs some minutes after their end; then only the accounting knows.
[ -n "$state" ] || state=$(sacct --noheader --allocations --format=State --jobs="$1" 2> /dev/null | tr -d ' +')

case "$state" in
    COMPLETED) echo success ;;
    BOOT_FAIL | CANCELLED* | DEADLINE | FAILED | NODE_FAIL | OUT_OF_MEMORY | PREEMPTED | TIMEOUT) echo failed ;;
    # Pending, completing and the like; or nobody answers for a moment.
    *) echo running ;;
esac
