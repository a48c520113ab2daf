"""The cases of run.py, as one test of CTest: the command is named by the environment variable KEYRAY."""
import os
import sys

sys.dont_write_bytecode = True

import run  # noqa: E402

sys.exit(run.main([os.environ["KEYRAY"]]))
