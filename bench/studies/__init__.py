"""The measurements: Python drivers and the C++ programs that they run."""
