// XML as the readers see it: elements with their file and line, so that every message can say where.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tribo/io/load_options.h"

namespace tribo::detail {

struct SourceElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<SourceElement> children;
  std::shared_ptr<const std::string> file;
  int line = 0;

  const std::string* find(std::string_view attribute) const;  // nullptr: not given
  std::string text(std::string_view attribute) const;         // empty: not given
};

// InvalidInput "file:line: <name>: message".
[[noreturn]] void fail(const SourceElement& element, const std::string& message);

// Collects what the file asks for and tribo does not do: once per place and message; with strict it throws.
class LoadLog {
 public:
  LoadLog(LoadReport& report, const LoadOptions& options)
      : report_(report),
        strict_(options.strict),
        allow_missing_(options.allow_missing),
        visuals_(options.visuals) {}
  // Something that is left out and would be missed: ground, an actuator, a tendon. It throws unless it is allowed.
  void leave_out(const SourceElement& element, const std::string& message);
  bool allows_missing() const { return allow_missing_; }
  bool wants_visuals() const { return visuals_; }
  void warn(const SourceElement& element, const std::string& message);
  void warn(const std::string& file, int line, const std::string& message);
  // Warns of every attribute that is in neither list.
  void check_attributes(const SourceElement& element, std::initializer_list<std::string_view> used,
                        std::initializer_list<std::string_view> harmless = {});

 private:
  LoadReport& report_;
  bool strict_, allow_missing_, visuals_;
  std::set<std::tuple<std::string, int, std::string>> seen_;
};

std::string read_text(const std::filesystem::path& file);  // InvalidInput when it cannot be read or is huge
std::string read_text(const std::filesystem::path& file,
                      const SourceElement& asking);  // the message says who asks

// The root element; InvalidInput with the line where the text is not XML.
SourceElement parse_xml(const std::string& text, const std::filesystem::path& file);

}  // namespace tribo::detail
