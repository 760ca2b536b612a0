# Trainyard for CMake:
#
#   find_package(Trainyard REQUIRED)
#   target_link_libraries(program Trainyard::Trainyard)
#
# Trainyard_TORCH is the folder of libtorch @TORCH_VERSION@, with include and lib: an unpacked libtorch, or
# the folder of the Python package (python3 -c 'import torch; print(torch.__path__[0])').

get_filename_component(_trainyard_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Trainyard_FOUND FALSE)

set(_trainyard_version_file "${Trainyard_TORCH}/include/torch/headeronly/version.h")
if(NOT Trainyard_TORCH)
  set(Trainyard_NOT_FOUND_MESSAGE "give the folder of libtorch @TORCH_VERSION@, with include and lib in it: -DTrainyard_TORCH=FOLDER")
  return()
elseif(NOT EXISTS "${_trainyard_version_file}")
  set(Trainyard_NOT_FOUND_MESSAGE "Trainyard_TORCH is ${Trainyard_TORCH}, and there is no ${_trainyard_version_file}")
  return()
endif()

set(_trainyard_version "")
foreach(_trainyard_part MAJOR MINOR PATCH)
  file(STRINGS "${_trainyard_version_file}" _trainyard_line REGEX "^#define TORCH_VERSION_${_trainyard_part} [0-9]+")
  string(REGEX MATCH "[0-9]+$" _trainyard_number "${_trainyard_line}")
  list(APPEND _trainyard_version "${_trainyard_number}")
endforeach()
string(REPLACE ";" "." _trainyard_version "${_trainyard_version}")
if(NOT _trainyard_version STREQUAL "@TORCH_VERSION@")
  set(Trainyard_NOT_FOUND_MESSAGE "this package was compiled with libtorch @TORCH_VERSION@, and ${Trainyard_TORCH} has ${_trainyard_version}")
  return()
endif()

if(NOT TARGET Trainyard::Trainyard)
  file(GLOB _trainyard_openmp "${Trainyard_TORCH}/lib/libgomp*.so*")
  add_library(Trainyard::Trainyard SHARED IMPORTED)
  set_target_properties(Trainyard::Trainyard PROPERTIES
    IMPORTED_LOCATION "${_trainyard_root}/lib/libtrainyard.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_trainyard_root}/include;${Trainyard_TORCH}/include;${Trainyard_TORCH}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_COMPILE_DEFINITIONS "@CMAKE_DEFINES@"
    # The library finds libtorch by the program, which must therefore name it even if only the library uses it.
    INTERFACE_LINK_OPTIONS "-Wl,--no-as-needed"
    INTERFACE_LINK_LIBRARIES "${Trainyard_TORCH}/lib/libtorch_cpu.so;${Trainyard_TORCH}/lib/libc10.so;${_trainyard_openmp};@CMAKE_LINK_FLAGS@")
endif()
set(Trainyard_FOUND TRUE)
