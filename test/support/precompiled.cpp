// Its target makes the headers that tests include into one that is compiled before (cmake/Testing.cmake).
int main() {}
