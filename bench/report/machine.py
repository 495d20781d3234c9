"""What the measurements ran on, and the peers that must be made first (Pinocchio)."""

import datetime
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
PIN_DEFINITIONS = [
    "NDEBUG", "PINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION", "BOOST_MPL_LIMIT_LIST_SIZE=30",
    "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "BOOST_FUSION_INVOKE_MAX_ARITY=12",
]  # fmt: skip


def say(text):
    print(f"bench: {text}", flush=True)


def quiet_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


# ---------------------------------------------------------------------------------------------------- the machine


def first_match(path, key):
    try:
        with open(path) as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), None)
    except OSError:
        return None


def read_text(path):
    try:
        return pathlib.Path(path).read_text().strip()
    except OSError:
        return None


def cache_value(binaries, name):
    cache = read_text(binaries.parent / "CMakeCache.txt") or ""
    return next((line.split("=", 1)[1] for line in cache.splitlines() if line.startswith(name + ":")), None)


def widest_vectors():
    flags = (first_match("/proc/cpuinfo", "flags") or "").split()
    return next((f for f in ("avx512f", "avx2", "avx", "sse4_2") if f in flags), None)


def describe_machine(binaries, python):
    package = ["dpkg-query", "-W", "-f", "${Version}", "libsiconos-numerics-dev"]
    pinocchio = [str(python), "-c", "import pinocchio; print(pinocchio.__version__)"] if python else ["false"]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "cpu": first_match("/proc/cpuinfo", "model name"),
        "vectors": widest_vectors(),
        "cores": os.cpu_count(),
        "governor": read_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "load_before": os.getloadavg(),
        "memory": first_match("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
        "compiler": quiet_line([cache_value(binaries, "CMAKE_CXX_COMPILER") or "c++", "--version"]),
        "build_type": cache_value(binaries, "CMAKE_BUILD_TYPE"),
        "native": cache_value(binaries, "TRIBO_NATIVE"),
        "tribo": quiet_line(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]),
        "siconos": quiet_line(package),
        "pinocchio": quiet_line(pinocchio),
    }


# ---------------------------------------------------------------------------------------------------- Pinocchio


def find_pinocchio(work):
    """The Python of the virtual environment, made on first use; None when that is not possible."""
    venv = work / "venv"
    python = venv / "bin" / "python"
    probe = [str(python), "-c", "import pinocchio, numpy, scipy"]
    if python.exists() and subprocess.run(probe, capture_output=True).returncode == 0:
        return python
    say(f"making a virtual environment in {venv} and installing pin, numpy and scipy from PyPI")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "pin>=4", "numpy", "scipy"], check=True)
        subprocess.run(probe, check=True)
        return python
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"no Pinocchio ({error}); going on without it")
        return None


def environment(work, name, packages, probe):
    """The Python of a virtual environment with packages of PyPI, made on first use; None when that is not possible."""
    venv = work / name
    python = venv / "bin" / "python"
    check = [str(python), "-c", probe]
    if python.exists() and subprocess.run(check, capture_output=True).returncode == 0:
        return python
    say(f"making a virtual environment in {venv} and installing {' and '.join(packages)} from PyPI")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *packages], check=True)
        subprocess.run(check, check=True)
        return python
    except (OSError, subprocess.CalledProcessError) as error:
        say(f"no {packages[0]} ({error}); going on without it")
        return None


def find_mujoco(work):
    return environment(work, "mujoco", ["mujoco", "numpy"], "import mujoco, numpy")


def find_mujoco_core(work):
    """MuJoCo 4 without its viewers where PyPI has it, else the newest there is."""
    return environment(work, "mujoco_core", ["mujoco-core==4.0.1", "numpy"], "import mujoco, numpy") or find_mujoco(work)


def find_drake(work):
    return environment(work, "drake", ["drake", "numpy"], "import pydrake.multibody.plant, numpy")


def compile_rigid(work, python):
    """The program for the operator that Python does not offer; None when it does not compile."""
    program, source = work / "pinocchio_rigid", BENCH / "peers" / "pinocchio_rigid.cpp"
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    where = "import pinocchio, pathlib; print(pathlib.Path(pinocchio.__file__).resolve().parents[4])"
    prefix = quiet_line([str(python), "-c", where])
    say("compiling bench/peers/pinocchio_rigid.cpp against the environment (two minutes, once)")
    command = ["c++", "-std=c++17", "-O1", *(f"-D{d}" for d in PIN_DEFINITIONS)]
    command += ["-isystem", f"{prefix}/include", "-isystem", "/usr/include/eigen3", str(source), "-o", str(program)]
    command += [f"-L{prefix}/lib", "-lpinocchio_default", f"-Wl,-rpath,{prefix}/lib"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        say("it does not compile; Pinocchio is measured through Python alone. " + done.stderr[-400:])
        return None
    return program
