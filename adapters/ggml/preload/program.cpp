// A program with ggml, which it calls only when it is given an argument.
extern "C" bool fake_scheduler();

int main(int argc, char**) { return argc > 1 && !fake_scheduler() ? 1 : 0; }
