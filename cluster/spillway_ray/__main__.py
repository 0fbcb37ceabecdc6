"""`python -m spillway_ray` is `spillway-ray`."""

import sys

from .cli import main

sys.exit(main())
