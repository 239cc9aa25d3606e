/*
 * Hides instructions from the process that loads this library: Linux lets the instruction cpuid
 * fault (arch_prctl(2), ARCH_SET_CPUID), and its answer is given here.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    ARCH_SET_CPUID = 0x1012,
    SIZE_OF_CPUID = 2
};

/* The bits of leaf 7, parts 0 and 1, that are hidden: of eax, ebx, ecx and edx. */
static unsigned hidden[2][4];

static long allow_cpuid(int allowed)
{
    return syscall(SYS_arch_prctl, ARCH_SET_CPUID, allowed);
}

static void on_fault(int number, siginfo_t *information, void *context)
{
    (void)information;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *instruction = (const unsigned char *)registers[REG_RIP];
    if (instruction[0] != 0x0F || instruction[1] != 0xA2) {
        signal(number, SIG_DFL); /* not cpuid: the fault comes again */
        return;
    }
    const unsigned leaf = (unsigned)registers[REG_RAX], part = (unsigned)registers[REG_RCX];
    unsigned found[4];
    allow_cpuid(1);
    __cpuid_count(leaf, part, found[0], found[1], found[2], found[3]);
    allow_cpuid(0);
    for (size_t i = 0; leaf == 7 && part < 2 && i < 4; i++) {
        found[i] &= ~hidden[part][i];
    }
    registers[REG_RAX] = found[0];
    registers[REG_RBX] = found[1];
    registers[REG_RCX] = found[2];
    registers[REG_RDX] = found[3];
    registers[REG_RIP] += SIZE_OF_CPUID;
}

/* HIDDEN_FROM_CPUID has the eight numbers of `hidden`, each followed by a blank. */
__attribute__((constructor)) static void hide(void)
{
    char *text = getenv("HIDDEN_FROM_CPUID");
    for (size_t i = 0; text != NULL && i < 8; i++) {
        hidden[i / 4][i % 4] = (unsigned)strtoul(text, &text, 10);
    }
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSEGV, &action, NULL) != 0 || allow_cpuid(0) != 0) {
        fputs("this processor, or Linux on it, does not let cpuid fault\n", stderr);
        _exit(1);
    }
}
