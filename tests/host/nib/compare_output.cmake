# cmake -DDEMO=... [-DSWITCH=...] -DPROGRAM=x.nib -DEXPECTED=x.out -P compare_output.cmake
execute_process(COMMAND ${DEMO} ${SWITCH} ${PROGRAM} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
file(READ ${EXPECTED} expected)
if(NOT status EQUAL 0 OR NOT errors STREQUAL "" OR NOT output STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM}: status ${status}\nexpected:\n${expected}\noutput:\n${output}\nerrors:\n${errors}")
endif()
