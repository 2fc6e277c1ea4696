"""How a library under test talks to `measure.py`: it runs steps when told to, and says how long they took.

Every library trains the same network on the same kind of batch: an auto-encoder of 784 pixels with hidden layers
of 400 and a code of 50 (688 884 parameters), batches of 128, clip 1, noise multiplier 1.5, Adam with rate 1e-3.
"""

import resource
import sys
import time

PIXELS, HIDDEN, LATENT, BATCH = 784, 400, 50, 128
RECORDS = 60_000
CLIP, NOISE_MULTIPLIER, LEARNING_RATE = 1.0, 1.5, 1e-3


def serve(run, num_parameters):
    """Answer one line for each line of standard input, until that ends.

    Args:
        run: Takes a number of steps, takes them, and returns when they are done.
        num_parameters: Of the network, to be checked by whoever asks.
    """
    answer, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    run(1)  # compiles
    print(num_parameters, file=answer, flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        run(int(line))
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(seconds, peak, file=answer, flush=True)
