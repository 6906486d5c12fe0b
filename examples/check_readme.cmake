# cmake -DEXAMPLE=… -DREADME=… -P check_readme.cmake: checks that the README shows the part of the example between its
# markers, unchanged.
file(READ "${EXAMPLE}" example)
file(READ "${README}" readme)
string(REGEX MATCH "// README begin\n(.*)  // README end" found "${example}")
if(NOT found)
  message(FATAL_ERROR "${EXAMPLE} has no markers")
endif()
string(REGEX REPLACE "(^|\n)  " "\\1" shown "${CMAKE_MATCH_1}") # without the two spaces of indentation
string(FIND "${readme}" "${shown}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${README} does not show this part of ${EXAMPLE}:\n${shown}")
endif()
