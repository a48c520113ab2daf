"""`python -m keyray`: the library, where it was loaded from, and the devices of this machine."""
from . import __version__, devices
from ._devices import _size
from ._library import lib, library_path


def main() -> None:
    """Prints it."""
    print(f"keyray {__version__}, commit {lib.kr_build_commit().decode()}")
    print(f"library   {library_path}")
    for device in devices():
        print(f"{device['name']:<9} {device['description']}, {device['software']}, {_size(device['memory_nbytes'])}; "
              f"casts rays with {device['tracer']}")


if __name__ == "__main__":
    main()
