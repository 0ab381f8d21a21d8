"""``python -m softirr`` is the command ``softirr``."""

import sys

from softirr.cli import main

sys.exit(main())
