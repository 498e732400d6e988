# brew install --HEAD ./h5twin.rb; a release fills in url and sha256 (RELEASING.md).
class H5twin < Formula
  desc "HDF5 filters that compress floating-point arrays within a guaranteed bound"
  license "BSD-3-Clause"
  # url and sha256: of the release's sdist

  depends_on "cmake" => :build
  depends_on "pkgconf" => :build
  depends_on "hdf5"

  uses_from_macos "zlib"

  def install
    args = %W[
      -DBUILD_SHARED_LIBS=ON
      -DH5TWIN_EXAMPLES=OFF
      -DH5TWIN_BENCH=OFF
      -DH5TWIN_PLUGIN_DIR=lib/hdf5/plugin
      -DCMAKE_INSTALL_RPATH=#{rpath}
    ]
    system "cmake", "-S", ".", "-B", "build", *args, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  def caveats
    <<~EOS
      HDF5 finds the filters where HDF5_PLUGIN_PATH says:
        export HDF5_PLUGIN_PATH=#{opt_lib}/hdf5/plugin
    EOS
  end

  test do
    (testpath/"in").binwrite(Array.new(10_000) { |i| Math.sin(i * 0.001) }.pack("E*"))
    system bin/"h5twin", "encode", "--codec", "cascade", "--type", "f64", "in", "chunk"
    system bin/"h5twin", "decode", "chunk", "out"
    assert_equal (testpath/"in").binread, (testpath/"out").binread
  end
end
