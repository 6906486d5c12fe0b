// A program that uses ggml, but calls it only if it is given an argument.
extern "C" bool fake_scheduler();

int main(int argc, char**) { return argc > 1 && !fake_scheduler() ? 1 : 0; }
