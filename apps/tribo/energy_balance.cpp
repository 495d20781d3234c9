#include "apps/tribo/energy_balance.h"

#include <algorithm>

namespace tribo::cli {

EnergyBalance::EnergyBalance(const Simulator& simulator)
    : kinematics_(simulator.model()), dynamics_(simulator.model()) {
  const Energy energy = simulator.energy();
  begin_ = lowest_ = maximum_ = energy.total();
  potential_ = energy.total() - energy.kinetic;
  kinematics_.set_positions(simulator.state().q);
  dynamics_.set_positions(kinematics_);
}

void EnergyBalance::add(const Simulator& simulator, const StepReport& report) {
  const Energy energy = simulator.energy();
  const double potential = energy.total() - energy.kinetic;
  double seen = energy.total();
  if (simulator.settings().scheme == Scheme::symplectic_euler) {
    seen = 0.5 * (dynamics_.kinetic_energy(simulator.state().v) + energy.kinetic + potential_ + potential);
    seen += 0.5 * report.correction_work;  // half of it is in the potential at the end
  }
  corrected_ += report.correction_work;
  work_ += simulator.drive_work();
  const double balance = seen - work_ - corrected_;
  maximum_ = std::max(maximum_, energy.total());
  created_ = std::max(created_, balance - begin_);
  largest_rise_ = std::max(largest_rise_, balance - lowest_);
  lowest_ = std::min(lowest_, balance);
  potential_ = potential;
  kinematics_.set_positions(simulator.state().q);
  dynamics_.set_positions(kinematics_);
}

}  // namespace tribo::cli
