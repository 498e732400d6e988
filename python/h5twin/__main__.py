# SPDX-License-Identifier: BSD-3-Clause
"""`python -m h5twin`: the h5twin command, which the package's library holds."""

import sys

from . import _library


def main() -> int:
    return _library.command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
