# find_package(csan): the target csan::csan, for target_link_libraries; csan::host, which has the
# host's own loads and stores announced (option host=instrumented); and csan::mpi. Relative to this file, so that
# the tree may be moved; without symbolic links, since /lib is often one to /usr/lib.

if(NOT TARGET csan::csan)
  get_filename_component(_csan_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(_csan_prefix "${_csan_prefix}/../../.." ABSOLUTE)

  # libcsan.so is a linker script: it names files beside it, which older linkers look for in -L only.
  add_library(csan::csan SHARED IMPORTED)
  set_target_properties(csan::csan PROPERTIES
    IMPORTED_LOCATION "${_csan_prefix}/lib/libcsan.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_csan_prefix}/include"
    INTERFACE_LINK_DIRECTORIES "${_csan_prefix}/lib")

  # Compiled with -fsanitize=thread and not linked with it: libcsan_host takes the place of its library.
  add_library(csan::host SHARED IMPORTED)
  set_target_properties(csan::host PROPERTIES
    IMPORTED_LOCATION "${_csan_prefix}/lib/libcsan_host.so"
    INTERFACE_COMPILE_OPTIONS
      "$<$<COMPILE_LANGUAGE:C,CXX,Fortran>:-fsanitize=thread>;$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler -fsanitize=thread>")

  # Calls of MPI are checked. Name it before the MPI.
  add_library(csan::mpi SHARED IMPORTED)
  set_target_properties(csan::mpi PROPERTIES
    IMPORTED_LOCATION "${_csan_prefix}/lib/libcsan_mpi.so"
    INTERFACE_LINK_LIBRARIES csan::csan)
  unset(_csan_prefix)
endif()
