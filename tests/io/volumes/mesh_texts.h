// Two tetrahedra that share a face, the second one written the wrong way round, in every format that is read; for tests and for
// fuzzing.
#pragma once

#include <string>

namespace tribo::test {

inline const std::string kGmsh2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n7 1 1 1\n9 5 5 5\n"
    "$EndNodes\n$Elements\n4\n1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 4 3 7\n3 2 2 0 1 1 2 3\n4 15 2 0 1 "
    "1\n$EndElements\n";

inline const std::string kGmsh4 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n2 5 "
    "1 7\n"
    "2 1 1 2\n1\n2\n0 0 0 0.5 0.5\n1 0 0 1 1\n3 1 0 3\n3\n4\n7\n0 1 0\n0 0 1\n1 1 1\n$EndNodes\n"
    "$Elements\n2 3 1 3\n2 1 2 1\n3 1 2 3\n3 1 4 2\n1 1 2 3 4\n2 2 4 3 7\n$EndElements\n";

inline const std::string kVtk4 =
    "# vtk DataFile Version 3.0\na title\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n0 0 0 1 0 0\n"
    "0 1 0 0 0 1\n1 1 1\nCELLS 3 14\n4 0 1 2 3\n4 1 3 2 4\n3 0 1 2\nCELL_TYPES 3\n10\n10\n5\nPOINT_DATA 5\n"
    "SCALARS s double 1\n";

inline const std::string kVtk5 =
    "# vtk DataFile Version 5.1\na title\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 float\n0 0 0 1 0 0\n"
    "0 1 0 0 0 1\n1 1 1\nMETADATA\nINFORMATION 0\n\nCELLS 4 11\nOFFSETS vtktypeint64\n0 4 8 11\n"
    "CONNECTIVITY vtktypeint64\n0 1 2 3 1 3 2 4\n0 1 2\nCELL_TYPES 3\n10 10 5\n";

inline const std::string kVtu =
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
    "byte_order=\"LittleEndian\">\n"
    "<UnstructuredGrid><Piece NumberOfPoints=\"5\" NumberOfCells=\"3\">\n<Points><DataArray type=\"Float64\" "
    "NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0\n0 1 0 0 0 1 1 1 1</DataArray></Points>\n<Cells>"
    "<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">0 1 2 3 1 3 2 4 0 1 2</DataArray>\n"
    "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">4 8 11</DataArray>\n"
    "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">10 10 5</DataArray></Cells></Piece>"
    "</UnstructuredGrid></VTKFile>\n";

inline const std::string kVtuBinary =
    "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt32\">"
    "<UnstructuredGrid><Piece NumberOfPoints=\"5\" NumberOfCells=\"3\">\n<Points><DataArray type=\"Float64\" "
    "NumberOfComponents=\"3\" "
    "format=\"binary\">\neAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA8D8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPwAAAAAAAPA/"
    "AAAAAAAA8D8AAAAAAADwPw==</DataArray></Points>\n<Cells>"
    "<DataArray type=\"Int64\" Name=\"connectivity\" "
    "format=\"binary\">"
    "\nWAAAAAAAAAAAAAAAAQAAAAAAAAACAAAAAAAAAAMAAAAAAAAAAQAAAAAAAAADAAAAAAAAAAIAAAAAAAAABAAAAAAAAAAAAAAAAAAAAA"
    "EAAAAAAAAAAgAAAAAAAAA=\n</DataArray>\n"
    "<DataArray type=\"Int64\" Name=\"offsets\" "
    "format=\"binary\">GAAAAAQAAAAAAAAACAAAAAAAAAALAAAAAAAAAA==</DataArray>\n"
    "<DataArray type=\"UInt8\" Name=\"types\" format=\"binary\">AwAAAAoKBQ==</DataArray></Cells></Piece>"
    "</UnstructuredGrid></VTKFile>\n";

}  // namespace tribo::test
