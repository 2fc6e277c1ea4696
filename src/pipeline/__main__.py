"""`python -m pipeline`: the command line."""

import sys

from pipeline.cli import main

sys.exit(main())
