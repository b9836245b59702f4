"""Include folders without "..": one spelling of a header's path, with a compiler cache and without.

llama.cpp's CMakeLists.txt name include folders like common/../vendor, and __FILE__ in a header holds what
they say. ccache rewrites paths so that folders can share objects, and takes the ".." out: without this, what
comes from it would hold another text. CMake reads the script with the first project().
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

VARIABLE = "CMAKE_PROJECT_TOP_LEVEL_INCLUDES"  # a list; CMake 3.24
_SCRIPT = r"""# Written by skippy-patches: include folders without "..", as a compiler cache writes them.
function(skippy_patches_plain_includes folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    foreach(property INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES)
      get_property(plain TARGET ${target} PROPERTY ${property})
      set(before "")
      while(NOT plain STREQUAL before)
        set(before "${plain}")
        string(REGEX REPLACE "/[^/;:<>]*[^./;:<>]/\\.\\.([/;>]|$)" "\\1" plain "${plain}")
        string(REGEX REPLACE "([^/;:<>])/\\.([/;>]|$)" "\\1\\2" plain "${plain}")
      endwhile()
      if(plain)
        set_property(TARGET ${target} PROPERTY ${property} "${plain}")
      endif()
    endforeach()
  endforeach()
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS below)
    skippy_patches_plain_includes("${each}")
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL skippy_patches_plain_includes "${CMAKE_SOURCE_DIR}")
"""


def place(tree: Path) -> Path:
    """Where the script of the build folder `tree` is."""
    return tree / "plain-includes.cmake"


def write(tree: Path) -> None:
    """Put it there."""
    place(tree).write_text(_SCRIPT, encoding="ascii")
