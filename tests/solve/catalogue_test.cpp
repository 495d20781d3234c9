#include "tribo/solve/catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tribo/base/errors.h"
#include "tribo/solve/splitting/admm.h"

namespace tribo {
namespace {

std::string refusal(std::string_view name) {
  try {
    make_solver(name);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "accepted";
}

std::string value(Solver& solver, std::string_view name) {
  for (const Option& option : solver.options()) {
    if (option.name == name) return option.get();
  }
  return "no such option";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Catalogue, MakesEverySolverByItsName) {
  std::set<std::string_view> names;
  for (const SolverInfo& info : solver_catalogue()) {
    EXPECT_EQ(make_solver(info.name)->name(), info.name);
    EXPECT_FALSE(info.summary.empty());
    names.insert(info.name);
  }
  EXPECT_EQ(names.size(), solver_catalogue().size());
  for (const char* name : {"admm", "nsgs", "pgs"}) EXPECT_TRUE(names.contains(name));
}

TEST(Catalogue, SetsOptionsFromTheName) {
  const auto admm = make_solver("admm:penalty=spectral,rho=0.5,anderson=0");
  EXPECT_EQ(value(*admm, "penalty"), "spectral");
  EXPECT_EQ(value(*admm, "rho"), "0.5");
  EXPECT_EQ(value(*admm, "anderson"), "0");
  const auto nsgs = make_solver("nsgs:local=newton,omega=1.2");
  EXPECT_EQ(value(*nsgs, "local"), "newton");
  EXPECT_EQ(value(*nsgs, "omega"), "1.2");
  // Options belong to one object.
  EXPECT_NE(value(*make_solver("admm"), "penalty"), "spectral");
}

TEST(Catalogue, EveryOptionTakesItsOwnValueAgain) {
  for (const SolverInfo& info : solver_catalogue()) {
    const auto solver = info.make();
    for (const Option& option : solver->options()) {
      EXPECT_FALSE(option.meaning.empty()) << option.name;
      EXPECT_FALSE(option.allowed.empty()) << option.name;
      const bool choice = option.allowed.find('|') != std::string::npos;
      EXPECT_EQ(option.unit.empty(), choice) << option.name;  // quantities have a unit, choices none
      const std::string before = option.get();
      solver->set_option(option.name, before);
      EXPECT_EQ(option.get(), before) << option.name;
      EXPECT_THROW(option.set("nonsense"), InvalidInput) << option.name;
      EXPECT_EQ(option.get(), before) << option.name;
    }
  }
}

TEST(Catalogue, CopiesHaveTheSameOptions) {
  for (const SolverInfo& info : solver_catalogue()) {
    const auto solver = info.make();
    for (const Option& option : solver->options()) {
      if (option.allowed == "on | off") option.set(option.get() == "on" ? "off" : "on");
    }
    const auto copy = solver->clone();
    EXPECT_EQ(copy->name(), info.name);
    const std::vector<Option> own = solver->options(), other = copy->options();
    ASSERT_EQ(own.size(), other.size());
    for (std::size_t k = 0; k < own.size(); ++k) EXPECT_EQ(own[k].get(), other[k].get()) << own[k].name;
  }
}

// The same words in C++: the struct is what the names set.
TEST(Catalogue, TypedOptionsAreTheNamedOnes) {
  const auto typed = make_admm({.penalty = AdmmOptions::Penalty::spectral, .rho = 0.5, .anderson = 0});
  const auto named = make_solver("admm:penalty=spectral,rho=0.5,anderson=0");
  const std::vector<Option> a = typed->options(), b = named->options();
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].get(), b[k].get()) << a[k].name;
}

TEST(Catalogue, RefusalsListWhatThereIs) {
  const std::string unknown = refusal("newton");
  for (const SolverInfo& info : solver_catalogue()) EXPECT_TRUE(contains(unknown, info.name)) << unknown;
  EXPECT_TRUE(contains(unknown, "'newton'"));
  EXPECT_TRUE(contains(refusal(""), "admm"));
  const std::string option = refusal("admm:speed=3");
  EXPECT_TRUE(contains(option, "'speed'")) << option;
  EXPECT_TRUE(contains(option, "penalty")) << option;
  EXPECT_TRUE(contains(refusal("admm:rho"), "name=value"));
  const std::string choice = refusal("admm:penalty=magic");
  EXPECT_TRUE(contains(choice, "penalty") && contains(choice, "balance") && contains(choice, "spectral"));
  EXPECT_TRUE(contains(refusal("admm:rho=-1"), "rho"));
  EXPECT_TRUE(contains(refusal("admm:rho=nan"), "rho"));
  EXPECT_TRUE(contains(refusal("admm:rho=1x"), "rho"));
  EXPECT_TRUE(contains(refusal("admm:anderson=2.5"), "anderson"));
  EXPECT_TRUE(contains(refusal("nsgs:omega=2.5"), "omega"));
}

}  // namespace
}  // namespace tribo
