/* SPDX-License-Identifier: BSD-3-Clause
 * minimal.cpp: write one dataset with a bound on its error and read it back, through HDF5's C++
 * interface.
 *
 *     h5c++ -shlib -std=c++17 minimal.cpp -o minimal_cpp $(pkg-config --cflags h5twin)
 *     ./minimal_cpp
 *
 * HDF5_PLUGIN_PATH names the folder of the plugins. */
#include <H5Cpp.h>
#include <algorithm>
#include <cmath>
#include <h5twin_hdf5.h>
#include <iostream>
#include <vector>

int
main()
{
    constexpr hsize_t rows = 512, columns = 768;
    constexpr double bound = 1e-3;
    std::vector<float> field(rows * columns), decoded(rows * columns);
    for (size_t i = 0; i < field.size(); i++) {
        field[i] = static_cast<float>(std::sin(0.02 * static_cast<double>(i / columns)) *
                                      std::cos(0.03 * static_cast<double>(i % columns)));
    }

    H5::H5File file("minimal_cpp.h5", H5F_ACC_TRUNC);
    H5::DSetCreatPropList dcpl;
    const hsize_t dims[] = {rows, columns}, chunk[] = {256, 256};
    dcpl.setChunk(2, chunk);
    if (H5Pset_h5twin_lattice(dcpl.getId(), H5TWIN_ABS, bound, 0) <
        0) { /* or dcpl.setFilter(486, ...) */
        return 1;
    }
    const H5::DataSet dataset =
        file.createDataSet("field", H5::PredType::IEEE_F32LE, H5::DataSpace(2, dims), dcpl);
    dataset.write(field.data(), H5::PredType::NATIVE_FLOAT);
    dataset.read(decoded.data(), H5::PredType::NATIVE_FLOAT);
    file.flush(H5F_SCOPE_LOCAL);

    double largest = 0;
    for (size_t i = 0; i < field.size(); i++) {
        largest = std::max(largest, std::fabs(static_cast<double>(decoded[i]) - field[i]));
    }
    std::cout << "minimal_cpp.h5: ratio "
              << static_cast<double>(field.size() * sizeof(float)) /
                     static_cast<double>(dataset.getStorageSize())
              << ", largest error " << largest << " of " << bound << '\n';
    return largest <= bound ? 0 : 1;
}
