# find_package(csan): the target csan::csan, for target_link_libraries; csan::host, which has the
# host's own loads and stores announced (option host=instrumented); csan::mpi; csan::command; csan_add_test. Relative to this file, so that
# the tree may be moved; without symbolic links, since /lib is often one to /usr/lib.

if(NOT TARGET csan::csan)
  get_filename_component(_csan_prefix "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(_csan_prefix "${_csan_prefix}/../../.." ABSOLUTE)

  # libcsan.so and libcsan_host.so are linker scripts: they name files beside them, which older linkers look for
  # in -L only.
  add_library(csan::csan SHARED IMPORTED)
  set_target_properties(csan::csan PROPERTIES
    IMPORTED_LOCATION "${_csan_prefix}/lib/libcsan.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_csan_prefix}/include"
    INTERFACE_LINK_DIRECTORIES "${_csan_prefix}/lib")

  # Compiled with -fsanitize=thread and not linked with it: libcsan_host takes the place of its library.
  add_library(csan::host SHARED IMPORTED)
  set_target_properties(csan::host PROPERTIES
    IMPORTED_LOCATION "${_csan_prefix}/lib/libcsan_host.so"
    INTERFACE_LINK_DIRECTORIES "${_csan_prefix}/lib"
    INTERFACE_COMPILE_OPTIONS
      "$<$<COMPILE_LANGUAGE:C,CXX,Fortran>:-fsanitize=thread>;$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler -fsanitize=thread>")

  # Calls of MPI are checked. Name it before the MPI.
  add_library(csan::mpi SHARED IMPORTED)
  set_target_properties(csan::mpi PROPERTIES
    IMPORTED_LOCATION "${_csan_prefix}/lib/libcsan_mpi.so"
    INTERFACE_LINK_LIBRARIES csan::csan)
  # The command csan, for add_test and add_custom_command.
  add_executable(csan::command IMPORTED GLOBAL)
  set_target_properties(csan::command PROPERTIES IMPORTED_LOCATION "${_csan_prefix}/bin/csan")
  unset(_csan_prefix)
endif()

# csan_add_test(NAME name [DEVICE auto|gpu|embedded] [OPTIONS name=value...] COMMAND command...): as add_test, and the
# test fails when csan finds a race in the program or in what it starts. The report is in the test's output.
function(csan_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 _csan "" "NAME;DEVICE" "OPTIONS;COMMAND")
  if(NOT _csan_NAME OR NOT _csan_COMMAND)
    message(FATAL_ERROR "csan_add_test needs NAME and COMMAND")
  endif()
  if(NOT _csan_DEVICE)
    set(_csan_DEVICE auto)
  endif()
  get_property(_csan_command TARGET csan::command PROPERTY IMPORTED_LOCATION)
  list(JOIN _csan_OPTIONS ":" _csan_options)
  set(_csan_arguments --device=${_csan_DEVICE})
  if(_csan_options)
    list(APPEND _csan_arguments --options=${_csan_options})
  endif()
  add_test(NAME ${_csan_NAME} COMMAND ${_csan_command} run ${_csan_arguments} -- ${_csan_COMMAND})
endfunction()
