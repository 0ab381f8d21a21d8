"""``python -m ml_backend`` is the command ``softirr-ls``."""

import sys

from ml_backend.cli import main

sys.exit(main())
