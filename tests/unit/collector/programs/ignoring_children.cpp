// Becomes the command given, which inherits that ended children are ignored.
#include <signal.h>
#include <unistd.h>

int main(int count, char** arguments) {
    if (count < 2) return 2;
    signal(SIGCHLD, SIG_IGN);
    execv(arguments[1], arguments + 1);
    return 127;
}
