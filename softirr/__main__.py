"""``python -m softirr`` is the command ``softirr``."""

import sys

from softirr.cli.main import main

sys.exit(main())
