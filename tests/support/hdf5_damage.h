// Damage to HDF5 files, done with the HDF5 library alone, for tests of what readers say about it.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <vector>

namespace tribo::test {

// Changes one number of a dataset in place.
inline void poke(const std::filesystem::path& path, const char* dataset, std::size_t place, double value) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT), space = H5Dget_space(set);
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  values.at(place) = value;
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Sclose(space), H5Dclose(set), H5Fclose(file);
}

// A dataset, or a group with all that is in it.
inline void remove(const std::filesystem::path& path, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, name, H5P_DEFAULT);
  H5Fclose(file);
}

// Puts zeros of other extents in the place of a dataset.
inline void reshape(const std::filesystem::path& path, const char* name,
                    const std::vector<hsize_t>& extents) {
  remove(path, name);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const std::vector<double> zeros(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)), 0.0);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data());
  H5Dclose(set), H5Sclose(space), H5Fclose(file);
}

}  // namespace tribo::test
