# cmake -DFOLDER=… -DOUTPUT=….cpp -P embed_files.cmake: the page's style and script as C++ string literals.
set(text "#include \"host/web/page_frame.hpp\"\n\nnamespace krux::web {\n")
foreach(name css js)
  file(READ ${FOLDER}/page.${name} content)
  string(TOUPPER ${name} upper)
  string(APPEND text "const std::string_view kPage${upper} = R\"FILE(${content})FILE\";\n")
endforeach()
string(APPEND text "}  // namespace krux::web\n")
file(WRITE ${OUTPUT} "${text}")
