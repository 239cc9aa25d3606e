/*
 * Runs each batch in its own process, so that any damage to the process is one failed batch: for a
 * single invocation, one failed case.
 * Waits for its end within the limits; reads its output, of which it keeps the beginning and the
 * end; and kills its descendants.
 */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_KEPT = 16 << 10, /* bytes of the output, at its beginning and at its end */
    RECORDS_SIZE = 8 << 20, /* besides the outputs; unwritten pages take no memory */
    START_TIMEOUT = 30000 /* milliseconds, until the first stage begins */
};

static sigset_t original_mask;

/* The beginning of the output, and its end, in a ring buffer. */
static struct {
    char head[MAX_KEPT];
    char tail[MAX_KEPT];
    size_t size;
} printed;

static void on_child(int number)
{
    (void)number; /* only interrupts ppoll */
}

void init_supervisor(void)
{
    struct sigaction action = {.sa_handler = on_child};
    sigset_t child;

    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans of a kernel's become children of this process */
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &original_mask);
}

/* ---- Output ---- */

static void append_output(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++, printed.size++) {
        if (printed.size < MAX_KEPT) {
            printed.head[printed.size] = bytes[i];
        } else {
            printed.tail[printed.size % MAX_KEPT] = bytes[i];
        }
    }
}

/* Reads the available output; returns false at its end. */
static bool read_output(int output)
{
    char bytes[1 << 16];
    const ssize_t size = read(output, bytes, sizeof bytes);
    if (size > 0) {
        append_output(bytes, (size_t)size);
    }
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

static void write_output(void)
{
    char text[2 * MAX_KEPT + 64];
    const size_t head = printed.size < MAX_KEPT ? printed.size : MAX_KEPT;
    const size_t rest = printed.size - head;
    const size_t tail = rest < MAX_KEPT ? rest : MAX_KEPT;
    size_t size = head;

    if (printed.size == 0) {
        return;
    }
    memcpy(text, printed.head, head);
    if (rest > tail) {
        size += (size_t)snprintf(text + size, 64, "\n... %zu bytes left out ...\n", rest - tail);
    }
    for (size_t i = printed.size - tail; i < printed.size; i++) {
        text[size++] = printed.tail[i % MAX_KEPT];
    }
    write_answer("printed", text, size);
}

/* ---- The process ---- */

static size_t outputs_size(const struct harness_invocation *invocation)
{
    size_t size = 0;
    for (unsigned i = 0; i < invocation->count; i++) {
        size += invocation->values[i].role == HARNESS_OUTPUT ? invocation->values[i].size : 0;
    }
    return size;
}

static struct shared_state *map_shared(const struct batch *batch, size_t *size)
{
    *size = sizeof(struct shared_state) + RECORDS_SIZE;
    for (unsigned i = 0; i < batch->count; i++) {
        *size += outputs_size(&batch->invocations[i]);
    }
    struct shared_state *memory = mmap(NULL, *size, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "no memory for %zu bytes\n", *size);
        exit(EXIT_FAILURE);
    }
    memory->capacity = *size - sizeof *memory;
    memory->deadline = milliseconds() + START_TIMEOUT;
    snprintf(memory->stage_name, sizeof memory->stage_name, "the start");
    return memory;
}

/* Leaves the output as the process's only open file, and ends it with this process. */
static void enter_child(const int *output)
{
    const int nothing = open("/dev/null", O_RDONLY);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGHUP, SIG_DFL); /* nohup ignores it, and a kernel that sends it would not end */
    sigprocmask(SIG_SETMASK, &original_mask, NULL);
    dup2(nothing, STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    for (int i = STDERR_FILENO + 1; i <= nothing || i <= output[1]; i++) {
        close(i);
    }
}

static bool is_overdue(void)
{
    return (int32_t)(milliseconds() - shared->deadline) >= 0;
}

/* Waits for the end of the process; kills it at the deadline and returns false. */
static bool wait_until_deadline(pid_t process, int output, int *status)
{
    /* The process moves its deadline. */
    static const struct timespec POLL_INTERVAL = {.tv_nsec = 50 * 1000 * 1000};
    struct pollfd poll = {.fd = output, .events = POLLIN};
    bool in_time = true;

    while (waitpid(process, status, WNOHANG | WUNTRACED) != process) {
        if (in_time && is_overdue()) {
            in_time = false;
            kill(process, SIGKILL);
            shared->deadline = milliseconds() + START_TIMEOUT;
            continue;
        }
        if (ppoll(&poll, 1, &POLL_INTERVAL, &original_mask) > 0 && !read_output(output)) {
            poll.fd = -1; /* all writers have closed it; the process may still run */
        }
    }
    return in_time;
}

static bool is_child(const char *process)
{
    char path[64];
    char text[512] = "";
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%.20s/stat", process);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    if (fgets(text, sizeof text, file) != NULL && strrchr(text, ')') != NULL) {
        sscanf(strrchr(text, ')'), ") %*c %d", &parent);
    }
    fclose(file);
    return parent == getpid();
}

static bool kill_children(void)
{
    DIR *processes = opendir("/proc");
    bool found = false;

    for (struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
        const int process = atoi(entry->d_name);
        if (process > 0 && is_child(entry->d_name)) {
            found = kill(process, SIGKILL) == 0 || found;
        }
    }
    if (processes != NULL) {
        closedir(processes);
    }
    return found;
}

/* Kills all descendants of the kernel, in any session or group. */
static void kill_descendants(void)
{
    pid_t ended;

    while ((ended = waitpid(-1, NULL, WNOHANG)) >= 0) {
        if (ended == 0 && (!kill_children() || waitpid(-1, NULL, 0) < 0)) {
            return;
        }
    }
}

static void write_exit(bool in_time, int status)
{
    char text[64];

    if (!in_time) {
        snprintf(text, sizeof text, "late 0");
    } else if (WIFSTOPPED(status)) {
        snprintf(text, sizeof text, "stopped %d", WSTOPSIG(status));
    } else if (WIFSIGNALED(status)) {
        snprintf(text, sizeof text, "signal %d", WTERMSIG(status));
    } else {
        snprintf(text, sizeof text, "exit %d", WEXITSTATUS(status));
    }
    write_answer("ended", text, strlen(text));
    write_answer("stage", shared->stage_name,
                 strnlen(shared->stage_name, sizeof shared->stage_name));
}

void supervise(const struct batch *batch, const struct harness_kernel *kernel)
{
    int output[2];
    size_t size;
    int status = 0;

    shared = map_shared(batch, &size);
    if (batch->invocations[0].stack_size > 0) {
        find_stack();
    }
    if (pipe(output) != 0 || fcntl(output[0], F_SETFL, O_NONBLOCK) != 0) {
        perror("pipe");
        exit(EXIT_FAILURE);
    }
    const pid_t process = fork();
    if (process == 0) {
        enter_child(output);
        run_batch(batch, kernel);
    }
    if (process < 0) {
        perror("fork");
        exit(EXIT_FAILURE);
    }
    setpgid(process, process);
    close(output[1]);
    printed.size = 0;
    const bool in_time = wait_until_deadline(process, output[0], &status);
    kill(-process, SIGKILL); /* its process group */
    kill_descendants();
    for (size_t before = printed.size + 1; before != printed.size;) {
        before = printed.size;
        read_output(output[0]);
    }
    close(output[0]);
    write_records();
    write_output();
    if (!shared->fault && !shared->complete) {
        write_exit(in_time, status);
    }
    munmap(shared, size);
}
