"""`python -m dpinfer`: the command line."""

import sys

from dpinfer.cli import main

sys.exit(main())
