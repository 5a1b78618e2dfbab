/* A helper that crashes at once. */
#include <signal.h>

int main(void)
{
        return raise(SIGSEGV);
}
