# shellcheck shell=bash
# chroot.sh: sourced by the scripts that try packages on bare systems.

# h5twin_chroot FOLDER SUITE [ARCHITECTURE [MIRROR KEYRING]]: a minimal Debian, or the system of that mirror, made once; needs
# debootstrap, and qemu-user-static for another architecture.
h5twin_chroot() {
    local folder=$1 suite=$2 arch=${3-$(dpkg --print-architecture)} mirror=${4-http://deb.debian.org/debian}
    if [ -e "$folder/.made" ]; then
        return 0
    fi
    h5twin_apt debootstrap qemu-user-static
    h5twin_as_root debootstrap --arch="$arch" --variant=minbase --include=ca-certificates ${5:+--keyring="$5"} \
        "$suite" "$folder" "$mirror" >"$folder.log" 2>&1 || { tail -5 "$folder.log" >&2; return 1; }
    # What this machine needs to reach a package index.
    h5twin_as_root cp -r /etc/ssl/certs "$folder/etc/ssl/"
    if [ -e /etc/pip.conf ]; then
        h5twin_as_root cp /etc/pip.conf "$folder/etc/"
    fi
    h5twin_as_root touch "$folder/.made"
}

# h5twin_inside FOLDER COMMAND...: run there, in /root; the network is this machine's.
h5twin_inside() {
    local folder=$1
    shift
    h5twin_as_root cp /etc/resolv.conf /etc/hosts "$folder/etc/"
    # /proc is mounted for this command alone.
    # shellcheck disable=SC2016 # the inner shells expand
    h5twin_as_root unshare --mount sh -ec 'mount --rbind /proc "$1/proc"; exec chroot "$@"' sh "$folder" /usr/bin/env -i \
        HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive ${https_proxy:+https_proxy="$https_proxy"} \
        sh -ec 'cd /root && exec "$@"' sh "$@"
}
