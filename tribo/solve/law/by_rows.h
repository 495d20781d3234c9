// A list for each number of rows that a contact can have: solvers of one contact, interior pairs, ...
//
// Example
//   ByRows<ExactContactN> solvers;
//   solvers.of<4>().emplace_back(w, mu);
#pragma once

#include <tuple>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

template <template <int> class Item>
class ByRows {
 public:
  template <int N>
  std::vector<Item<N>>& of() {
    return std::get < N == 3 ? 0 : N == 4 ? 1 : 2 > (lists_);
  }
  template <int N>
  const std::vector<Item<N>>& of() const {
    return std::get < N == 3 ? 0 : N == 4 ? 1 : 2 > (lists_);
  }
  void clear() {
    for_each([](auto& list) { list.clear(); });
  }
  bool empty() const { return of<3>().empty() && of<4>().empty() && of<6>().empty(); }
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
  std::tuple<std::vector<Item<3>>, std::vector<Item<4>>, std::vector<Item<6>>> lists_;
};

}  // namespace tribo
