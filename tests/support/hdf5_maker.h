// Makes HDF5 files by hand, with the HDF5 library alone, so that tests of our readers do not rely on our
// writer.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tribo::test {

// Sparse entries of a matrix as they stand in a file.
struct StoredMatrix {
  int rows = 0, cols = 0, nz = 0;  // nz: number of triplets, -1 CSC, -2 CSR
  std::vector<int> p, i;
  std::vector<double> x;
};

class Hdf5Maker {
 public:
  // `latest`: newest file format instead of the oldest.
  explicit Hdf5Maker(const std::filesystem::path& path, bool latest = false) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
  }
  Hdf5Maker(const Hdf5Maker&) = delete;
  Hdf5Maker& operator=(const Hdf5Maker&) = delete;
  ~Hdf5Maker() { H5Fclose(file_); }

  hid_t file() const { return file_; }

  Hdf5Maker& group(const std::string& name) {
    H5Gclose(H5Gcreate2(file_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return *this;
  }
  Hdf5Maker& ints(const std::string& name, const std::vector<int>& values, hid_t type = H5T_STD_I32LE) {
    return write(name, values.data(), {values.size()}, type, H5T_NATIVE_INT, H5P_DEFAULT);
  }
  Hdf5Maker& reals(const std::string& name, const std::vector<double>& values, hid_t type = H5T_IEEE_F64LE,
                   hid_t creation = H5P_DEFAULT) {
    return write(name, values.data(), {values.size()}, type, H5T_NATIVE_DOUBLE, creation);
  }
  Hdf5Maker& table(const std::string& name, const std::vector<double>& values, hsize_t rows, hsize_t cols) {
    return write(name, values.data(), {rows, cols}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, H5P_DEFAULT);
  }
  Hdf5Maker& text(const std::string& name, const std::string& value) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, value.size() + 1);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t dataset = H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str());
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    return *this;
  }
  Hdf5Maker& matrix(const std::string& name, const StoredMatrix& matrix) {
    const int stored = static_cast<int>(matrix.x.size());
    return group(name)
        .ints(name + "/nzmax", {2 * stored})  // may promise more than there is
        .ints(name + "/m", {matrix.rows})
        .ints(name + "/n", {matrix.cols})
        .ints(name + "/nz", {matrix.nz})
        .ints(name + "/p", matrix.p)
        .ints(name + "/i", matrix.i)
        .reals(name + "/x", matrix.x);
  }
  Hdf5Maker& remove(const std::string& name) {
    H5Ldelete(file_, name.c_str(), H5P_DEFAULT);
    return *this;
  }

 private:
  Hdf5Maker& write(const std::string& name, const void* data, const std::vector<hsize_t>& extent, hid_t type,
                   hid_t memory_type, hid_t creation) {
    const hid_t space = H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
    const hid_t dataset = H5Dcreate2(file_, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (data != nullptr) H5Dwrite(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(dataset);
    H5Sclose(space);
    return *this;
  }

  hid_t file_ = -1;
};

}  // namespace tribo::test
