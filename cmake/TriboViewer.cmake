# The page of replays and of the live view, one HTML file that is embedded into the library. It is built from viewer/ with
# node and npm; where they cannot be had, an empty file takes its place: everything else works, and whoever asks for a page
# is told what is missing.
set(TRIBO_VIEWER "" CACHE FILEPATH "A viewer page to embed in place of the one that is built from viewer/")

# Sets the variable `result` to the file to embed.
function(tribo_viewer result)
  set(page "${PROJECT_BINARY_DIR}/generated/viewer.html")
  set(${result} "${page}" PARENT_SCOPE)
  if(TRIBO_VIEWER)
    configure_file("${TRIBO_VIEWER}" "${page}" COPYONLY)
    return()
  endif()
  set(folder "${PROJECT_SOURCE_DIR}/viewer")
  if(NOT EXISTS "${folder}/package.json")
    message(STATUS "no viewer/ here: no replay pages and no live view")
    file(WRITE "${page}" "")
    return()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/src/*")
  file(GLOB settings CONFIGURE_DEPENDS "${folder}/*.json" "${folder}/*.mjs" "${folder}/.npmrc")
  set(script "${PROJECT_SOURCE_DIR}/scripts/build-viewer")
  add_custom_command(OUTPUT "${page}" COMMAND "${script}" "${page}" DEPENDS "${script}" ${sources} ${settings}
                     COMMENT "Building the viewer" VERBATIM)
endfunction()
