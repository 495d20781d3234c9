# Corrections of the generated stubs, see nanobind's stubgen.

# Equal problems need not be the same object, so they have no hash.
_core.Problem.__hash__:
    __hash__: None  # type: ignore

_core.__suffix__:
    __version__: str
