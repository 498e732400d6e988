#!/bin/sh
# zig_cc.sh: a C compiler for Linux with glibc 2.17 on H5TWIN_ZIG_ARCH (x86_64, aarch64): the clang of the PyPI package
# ziglang, run by H5TWIN_ZIG_PYTHON. Called by wheels.sh, as CC.
links=yes
for argument; do
    shift
    case $argument in
    -c | -E | -S) links= ;;
    # What clang's own driver adds, and zig's does not: SSE 4.2 has the CRC instructions, AVX-512 its wide registers.
    -msse4.2) set -- "$@" -mcrc32 ;;
    -mavx512f) set -- "$@" -mevex512 ;;
    -march=armv8-a+crc) argument=-mcpu=generic+crc ;; # zig knows processors alone
    esac
    set -- "$@" "$argument"
done
arch=${H5TWIN_ZIG_ARCH:-x86_64}
if [ -n "$links" ]; then
    set -- "$@" -s
    if [ "$arch" = x86_64 ]; then
        # zig's runtime has nothing for __builtin_cpu_supports(); that of any gcc has. It is linked statically.
        set -- "$@" "$(gcc -print-libgcc-file-name)"
    fi
fi
exec "${H5TWIN_ZIG_PYTHON:-python3}" -m ziglang cc -target "$arch-linux-gnu.2.17" -fno-sanitize=all "$@"
