// A list for each number of rows that a contact can have: solvers of one contact, interior pairs, ...
//
// Example
//   ByRows<ExactContactN> solvers;
//   solvers.of<4>().emplace_back(w, mu);
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/linalg/group_blocks.h"

namespace tribo {

template <template <int> class Item>
class ByRows {
 public:
  template <int N>
  std::vector<Item<N>>& of() {
    return std::get<row_count_place(N) - 1>(lists_);
  }
  template <int N>
  const std::vector<Item<N>>& of() const {
    return std::get<row_count_place(N) - 1>(lists_);
  }
  void clear() {
    for_each([](auto& list) { list.clear(); });
  }
  bool empty() const {
    return std::apply([](const auto&... list) { return (list.empty() && ...); }, lists_);
  }
  // action(list) for each of them.
  template <class Action>
  void for_each(Action&& action) {
    std::apply([&](auto&... list) { (action(list), ...); }, lists_);
  }
  template <class Action>
  void for_each_item(Action&& action) {
    for_each([&](auto& list) {
      for (auto& item : list) action(item);
    });
  }
  template <class Action>
  void for_each_item(Action&& action) const {
    std::apply(
        [&](const auto&... list) {
          const auto visit = [&](const auto& items) {
            for (const auto& item : items) action(item);
          };
          (visit(list), ...);
        },
        lists_);
  }

 private:
  template <std::size_t... I>
  static std::tuple<std::vector<Item<kRowCounts[I + 1]>>...> make_lists(std::index_sequence<I...>);
  decltype(make_lists(std::make_index_sequence<kRowCounts.size() - 1>())) lists_;
};

}  // namespace tribo
