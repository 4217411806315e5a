# cmake -DFOLDER=… -DENDING=.in -DHEADER=host/cli/x.hpp -DTYPE=File -DFUNCTION=files -DOUTPUT=….cpp -P embed_files.cmake:
# the files of a folder that end so as C++ string literals, by their names without the ending. The headers' structs have
# the name first, and then the text.
file(GLOB files LIST_DIRECTORIES false ${FOLDER}/*${ENDING})
list(SORT files)
list(LENGTH files count)
set(entries "")
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  string(REPLACE "${ENDING}" "" name ${name})
  string(REGEX REPLACE "^gitignore$" ".gitignore" name ${name})
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"EMBEDDED(${text})EMBEDDED\"},\n")
endforeach()
set(text "#include \"${HEADER}\"\n\n#include <array>\n\nnamespace krux::cli {\nnamespace {\n")
string(APPEND text "constexpr std::array<${TYPE}, ${count}> k_${FUNCTION}{{\n${entries}}};\n}  // namespace\n")
string(APPEND text "std::span<const ${TYPE}> ${FUNCTION}() { return k_${FUNCTION}; }\n}  // namespace krux::cli\n")
file(WRITE ${OUTPUT} "${text}")
