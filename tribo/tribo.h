// Everything most users need: problems and their files, solvers and certificates, the simulator and its models.
//
// Example
//   #include <tribo/tribo.h>
//   tribo::LoadReport report;
//   tribo::Simulator simulator(tribo::load_world("humanoid.xml", {}, report));
//   while (simulator.time() < 2.0) simulator.step();  // s
#pragma once

#include "tribo/base/errors.h"
#include "tribo/control/cartesian_impedance.h"
#include "tribo/control/gripper.h"
#include "tribo/control/joint_impedance.h"
#include "tribo/control/phases.h"
#include "tribo/flex/elastic_body.h"
#include "tribo/flex/ready_meshes.h"
#include "tribo/formats/problem_file.h"
#include "tribo/generate/generators.h"
#include "tribo/io/load.h"
#include "tribo/io/mjcf/writer.h"
#include "tribo/io/recorder.h"
#include "tribo/io/state_file.h"
#include "tribo/io/tet_mesh_file.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/problem/infeasibility.h"
#include "tribo/problem/islands.h"
#include "tribo/problem/solution.h"
#include "tribo/scenes/scene.h"
#include "tribo/sim/batch.h"
#include "tribo/sim/inverse_dynamics.h"
#include "tribo/sim/simulator.h"
#include "tribo/sim/world.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/solver.h"
#include "tribo/version.h"
