# cmake -DEXAMPLE=… -DREADME=… -P check_readme.cmake: the part of the example between its markers stands in the README, as it is.
file(READ "${EXAMPLE}" example)
file(READ "${README}" readme)
string(REGEX MATCH "// README begin\n(.*)  // README end" found "${example}")
if(NOT found)
  message(FATAL_ERROR "${EXAMPLE} has no markers")
endif()
string(REGEX REPLACE "(^|\n)  " "\\1" shown "${CMAKE_MATCH_1}") # indented by two less
string(FIND "${readme}" "${shown}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${README} does not show this part of ${EXAMPLE}:\n${shown}")
endif()
