# SPDX-License-Identifier: BSD-3-Clause
"""For spack 1.0 and later: `spack repo add packaging/spack/spack_repo/h5twin`, then
`spack install h5twin`."""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class H5twin(CMakePackage):
    """HDF5 filters that compress floating-point arrays, losslessly or within a guaranteed error
    bound."""

    license("BSD-3-Clause")

    # Until there is a release to download: `spack develop --path SOURCE h5twin@0.1.0`.
    version("0.1.0")

    variant("tools", default=True, description="Build the command, which looks into HDF5 files")
    variant("cuda", default=False, description="Build the CUDA back ends")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("hdf5@1.10.5:", when="+tools")
    depends_on("zlib-api", when="+tools")
    depends_on("cuda@12:", when="+cuda")

    def cmake_args(self):
        return [
            self.define("BUILD_SHARED_LIBS", True),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),  # on every system: plugin_path names it
            self.define("H5TWIN_EXAMPLES", False),
            self.define("H5TWIN_BENCH", False),
            self.define_from_variant("H5TWIN_TOOLS", "tools"),
            self.define_from_variant("H5TWIN_CHECKPOINT", "tools"),
            self.define_from_variant("H5TWIN_CUDA", "cuda"),
        ]

    @property
    def plugin_path(self):
        # A folder of h5twin's own, beside nothing else's filters.
        return join_path(self.prefix.lib, "hdf5", "plugin")

    def setup_run_environment(self, env):
        env.prepend_path("HDF5_PLUGIN_PATH", self.plugin_path)

    def setup_dependent_run_environment(self, env, dependent_spec):
        env.prepend_path("HDF5_PLUGIN_PATH", self.plugin_path)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        if self.spec.satisfies("+tools"):
            Executable(self.prefix.bin.h5twin)("codecs")
