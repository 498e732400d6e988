# SPDX-License-Identifier: BSD-3-Clause
"""`python -m h5twin`: the h5twin command of this package."""

import os
import subprocess
import sys

from ._library import COMMAND


def main() -> int:
    if not COMMAND.exists():
        print(f"h5twin: there is no command {COMMAND}: install the package anew.", file=sys.stderr)
        return 1
    arguments = [str(COMMAND), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(arguments[0], arguments)
    return subprocess.call(arguments)


if __name__ == "__main__":
    sys.exit(main())
