// Matrices of FCLIB files: a group with m, n, nz and the arrays p, i, x (formats/fclib_reader.h).
#pragma once

#include <string>
#include <vector>

#include "tribo/formats/assembly.h"
#include "tribo/formats/hdf5_reader.h"

namespace tribo::detail {

// How the entries of a matrix group are stored: triplet, CSC or CSR.
const char* storage_name(const Hdf5Reader& file, const std::string& group);

// A matrix group that must be rows x cols.
SparseMatrix read_matrix(const Hdf5Reader& file, const std::string& group, Index rows, Index cols);

// Adds the entries of `from`; entry (i, j) goes to (rows[i], cols[j]), or to (i, cols[j]) without `rows`. A place < 0: the
// row of the file is not kept.
void append(const SparseMatrix& from, const std::vector<Index>* rows, const std::vector<Index>& cols,
            SparseMatrix& to);

SparseMatrix transposed(SparseMatrix matrix);

}  // namespace tribo::detail
