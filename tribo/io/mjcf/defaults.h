// <default>: classes of attribute values. A class inherits from the class it is nested in.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/io/xml/source_xml.h"

namespace tribo::detail {

struct DefaultClass {
  const DefaultClass* parent = nullptr;
  std::vector<const SourceElement*> elements;  // in the order of the file
};

class DefaultTable {
 public:
  // The elements must outlive the table. The outermost class of the file is "main", whatever it is called.
  void read(const SourceElement& element, LoadLog& log);

  // The class of that name; InvalidInput naming the element that asks for it. Empty: the outermost class.
  const DefaultClass& find(const std::string& name, const SourceElement& asking) const;

  // The defaults for one kind of element, strongest first.
  static std::vector<const SourceElement*> layers(const DefaultClass& chosen, std::string_view kind);
  // All elements from the outermost class inwards: actuators of any kind share one set of values.
  static std::vector<const SourceElement*> history(const DefaultClass& chosen);

 private:
  void read_class(const SourceElement& element, DefaultClass& into, LoadLog& log);

  std::map<std::string, DefaultClass> classes_;
  DefaultClass main_;
};

}  // namespace tribo::detail
