# shellcheck shell=bash
# setup.sh: sourced by tests/run.sh and examples/quickstart.sh: installs what a bare Debian or
# Ubuntu machine lacks. Asks apt only for what is missing, so it is quick and quiet after the first
# time, and works offline then.

# h5twin_root: the source tree, for the callers too.
h5twin_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export h5twin_root

# h5twin_as_root COMMAND...: with sudo where needed.
h5twin_as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

h5twin_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# h5twin_apt PACKAGE...: install those that are missing; fails if that fails.
h5twin_apt() {
    local package missing=()
    if ! command -v apt-get >/dev/null; then
        return 0 # another distribution: use what is there
    fi
    for package in "$@"; do
        h5twin_installed "$package" || missing+=("$package")
    done
    if [ ${#missing[@]} = 0 ]; then
        return 0
    fi
    echo "Installing ${missing[*]}" >&2
    local install=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -qq -y
        --no-install-recommends "${missing[@]}")
    # The package lists may be absent or stale: fetch them once and try again.
    h5twin_as_root "${install[@]}" >/dev/null 2>&1 ||
        { h5twin_as_root apt-get update -qq >&2 && h5twin_as_root "${install[@]}" >&2; }
}

# h5twin_venv FOLDER REQUIREMENTS: make or update a virtual environment with these wheels. Always
# Debian's python3: another one in PATH may have no venv module, or be too old.
h5twin_venv() {
    local venv=$h5twin_root/$1 wanted=$h5twin_root/$2
    if cmp -s "$wanted" "$venv/requirements.txt"; then
        return 0
    fi
    echo "Making $venv" >&2
    h5twin_apt python3-venv || return
    /usr/bin/python3 -m venv "$venv" >&2 || return
    "$venv/bin/pip" install -q --disable-pip-version-check --only-binary=:all: -r "$wanted" >&2 ||
        return
    cp "$wanted" "$venv/requirements.txt"
}
