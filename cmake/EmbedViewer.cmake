# Joins viewer/ into one text and writes it as C++ (src/report/viewer.hpp):
#
#   cmake -DVIEWER=viewer -DOUTPUT=viewer.cpp -P EmbedViewer.cmake
#
# index.html has four marks, each once: <!-- stowage:title -->, <!-- stowage:style -->, <!-- stowage:script -->, <!-- stowage:data -->,
# the title before the data. Style and script are put in here; title and data differ from page to page. The script is the modules of
# modules.txt in that order, less their imports and the word export: one scope, so that no two modules may use one name for different things.
#
# Everything is text in quotes: lists would break at semicolons and brackets. What the compiler gets are numbers, so that no
# character needs care and no literal is too long for anyone.
cmake_minimum_required(VERSION 3.25)

function(refuse text what)
  string(TOLOWER "${text}" text)
  foreach(word IN LISTS ARGN)
    string(FIND "${text}" "${word}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${what} contains '${word}', which would end it")
    endif()
  endforeach()
endfunction()

# Puts `text` in place of a mark that must be in `page` once.
function(put variable mark text)
  set(page "${${variable}}")
  string(FIND "${page}" "<!-- stowage:${mark} -->" first)
  string(FIND "${page}" "<!-- stowage:${mark} -->" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "index.html must have the mark <!-- stowage:${mark} --> once")
  endif()
  string(REPLACE "<!-- stowage:${mark} -->" "${text}" page "${page}")
  set(${variable} "${page}" PARENT_SCOPE)
endfunction()

function(to_array name text result)
  string(HEX "${text}" text)
  string(REGEX REPLACE "(................................................................)" "\\1\n" text "${text}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${text}")
  set(${result} "const unsigned char ${name}[] = {\n${text}0};\n" PARENT_SCOPE)
endfunction()

file(READ ${VIEWER}/index.html page)
file(READ ${VIEWER}/style.css style)
file(STRINGS ${VIEWER}/modules.txt modules)
set(script "\n")
foreach(module IN LISTS modules)
  if(NOT module STREQUAL "")
    file(READ ${VIEWER}/${module} text)
    string(APPEND script "${text}\n")
  endif()
endforeach()
string(REGEX REPLACE "\nimport [^\n]*" "" script "${script}")
string(REPLACE "\nexport " "\n" script "${script}")
refuse("${script}" "the script of the viewer" "</script" "<!--")
refuse("${style}" "the style of the viewer" "</style" "<!--")

# Title and data are found before script and style come in, which may mention the marks.
string(ASCII 1 cut)
put(page title "${cut}")
put(page data "${cut}")
put(page style "${style}")
put(page script "${script}")
string(FIND "${page}" "${cut}" title)
string(FIND "${page}" "${cut}" data REVERSE)
math(EXPR after_title "${title} + 1")
math(EXPR after_data "${data} + 1")
math(EXPR between "${data} - ${after_title}")
string(SUBSTRING "${page}" 0 ${title} head)
string(SUBSTRING "${page}" ${after_title} ${between} middle)
string(SUBSTRING "${page}" ${after_data} -1 tail)

to_array(kHead "${head}" head)
to_array(kMiddle "${middle}" middle)
to_array(kTail "${tail}" tail)
file(WRITE ${OUTPUT} "// Made of viewer/ by cmake/EmbedViewer.cmake.
#include \"report/viewer.hpp\"

namespace stowage::report {
namespace {

${head}${middle}${tail}
template <std::size_t size>
std::string_view text_of(const unsigned char (&bytes)[size]) {
  return {reinterpret_cast<const char*>(bytes), size - 1};
}

}  // namespace

Viewer viewer() { return {text_of(kHead), text_of(kMiddle), text_of(kTail)}; }

}  // namespace stowage::report
")
