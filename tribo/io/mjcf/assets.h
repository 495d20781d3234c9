// <asset>: meshes and height fields of an MJCF file. A mesh is read when something needs it: the shape of a geom
// that can touch, or the inertia of a body that has no <inertial>.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tribo/collide/shape.h"
#include "tribo/io/assets/mesh_moments.h"
#include "tribo/io/mjcf/compiler.h"
#include "tribo/io/mjcf/defaults.h"
#include "tribo/io/mjcf/height_field.h"
#include "tribo/sim/world.h"

namespace tribo::detail {

class MeshAsset {
 public:
  // The elements must outlive the asset.
  MeshAsset(Attributes attributes, std::filesystem::path file);

  const std::filesystem::path& file() const { return file_; }
  bool is_missing() const;
  const MeshData& data();                                // scaled, in the frame of the asset
  const std::shared_ptr<const ConvexHull>& hull();       // the same frame, shifted by -center()
  const std::shared_ptr<const TriangleMesh>& surface();  // of data(), for display
  const Vec3& center() { return moments().center; }      // of mass, in the frame of the asset
  const VolumeMoments& moments();
  VolumeMoments moments(MeshInertia mode);

 private:
  void load();

  Attributes attributes_;
  std::filesystem::path file_;
  MeshInertia mode_ = MeshInertia::legacy;
  std::optional<MeshData> data_;
  std::shared_ptr<const ConvexHull> hull_;
  std::shared_ptr<const TriangleMesh> surface_;
  std::optional<VolumeMoments> moments_;
};

// Where the file that attribute 'file' of an element names is; `with_folder`: with the folder of <compiler>.
std::filesystem::path find_asset(const SourceElement& element, const std::string& with_folder,
                                 const std::filesystem::path& main_folder);

class AssetTable {
 public:
  void read(const SourceElement& section, const CompilerSettings& compiler, const DefaultTable& defaults,
            const std::filesystem::path& folder, LoadLog& log);

  // InvalidInput naming the element that asks.
  MeshAsset& mesh(const std::string& name, const SourceElement& asking);
  const HeightFieldAsset& height_field(const std::string& name, const SourceElement& asking) const;
  // Colour of a material; none where there is no such material.
  std::optional<Color> color(const std::string& material) const;
  // File of a model to attach.
  const std::filesystem::path& model_file(const std::string& name, const SourceElement& asking) const;

 private:
  void read_mesh(const SourceElement& element, const CompilerSettings& compiler, const DefaultTable& defaults,
                 const std::filesystem::path& folder, LoadLog& log);
  void read_height_field(const SourceElement& element, const CompilerSettings& compiler,
                         const std::filesystem::path& folder, LoadLog& log);

  void read_look(const SourceElement& element, const DefaultTable& defaults, LoadLog& log);

  std::map<std::string, MeshAsset> meshes_;
  std::map<std::string, HeightFieldAsset> height_fields_;
  std::map<std::string, std::filesystem::path> models_;
  std::map<std::string, Color> textures_, materials_;
  std::map<std::string, std::string> texture_of_;  // by material
};

}  // namespace tribo::detail
