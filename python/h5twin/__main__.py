# SPDX-License-Identifier: BSD-3-Clause
"""`python -m h5twin`: the h5twin command, which the package's library holds."""

import signal
import sys

from . import _hdf5, _library


def main() -> int:
    """Runs the command, which ends by these signals as any program does. Files are opened with the
    HDF5 of h5py."""
    for name in ("SIGINT", "SIGPIPE"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    return _library.command(sys.argv[1:], _hdf5.find)


if __name__ == "__main__":
    sys.exit(main())
