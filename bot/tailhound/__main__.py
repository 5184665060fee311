"""`python -m tailhound`."""

import sys

from tailhound.cli import main

sys.exit(main())
