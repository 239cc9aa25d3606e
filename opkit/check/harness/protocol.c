/*
 * The protocol on stdin and stdout. Every <size> is followed by a newline and that many bytes. A
 * request:
 *
 *     batch <invocations> <1: they alternate> <offset of counters> <their size>
 *     run <mode> <fill> <runs> <seconds per stage> <threads> <stack> <values> <attachments>
 *     <input | output | param> <type> <name> <rank> <dimension> ... <size>
 *     <name of an attachment> <size>
 *
 * <mode> is plain or profiled, without guards, or the place of the guards: behind or before.
 * <stack> is in bytes, 0 for no limit. <invocations>, <values> and <attachments> are counts; the
 * lines that describe them follow. Values are in the order of the description; an output has size
 * 0, because its bytes are the fill. The counters are bytes of the kernel's library, which the
 * answer has at their values after all runs. The answer is a sequence of records:
 *
 *     <what> <size>
 *     end 0
 *
 * `what` is invocation, status, stage, seconds, usage, heap, profile, fault, timeout, instruction,
 * log, event, leak, thread_local, output, counters, printed, ended, refused, attachment and its
 * name, or base, the address of the kernel's library. The index in `invocation` is that of the
 * following records. Outputs follow in order if the status is 0.
 */
#include "harness.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared_state *shared;

static const char GREETING[] = "opkit harness 4\n";

enum {
    MAX_LINE = 512,
    ALIGNMENT = 64, /* as runtimes align tensors: vectors that cross cache lines take time */
    HUGE_PAGE = 2 << 20
};

static FILE *answers;

static void *checked(void *memory, size_t size)
{
    if (memory == NULL && size != 0) {
        fprintf(stderr, "no memory for %zu bytes\n", size);
        exit(EXIT_FAILURE);
    }
    return memory;
}

void *allocate(size_t count, size_t size)
{
    return checked(calloc(count, size), count * size);
}

/* ---- Requests ---- */

/* Splits a line at its blanks; returns the number of words. */
static unsigned read_words(char *line, char **words, unsigned max_count)
{
    char *rest = NULL;
    unsigned count = 0;

    if (fgets(line, MAX_LINE, stdin) == NULL) {
        return 0;
    }
    for (char *word = strtok_r(line, " \n", &rest); word != NULL && count < max_count;
         word = strtok_r(NULL, " \n", &rest)) {
        words[count++] = word;
    }
    return count;
}

static size_t number(const char *word)
{
    return strtoull(word, NULL, 10);
}

static bool read_bytes(void *bytes, size_t size)
{
    return fread(bytes, 1, size, stdin) == size;
}

/* Returns memory of a value: of large ones, in huge pages as numpy's, in which loops are faster. */
static void *allocate_bytes(size_t size)
{
    const bool is_large = size >= 2 * HUGE_PAGE;
    void *bytes = NULL;

    (void)posix_memalign(&bytes, is_large ? HUGE_PAGE : ALIGNMENT, size);
    checked(bytes, size);
#ifdef MADV_HUGEPAGE
    if (is_large) {
        (void)madvise(bytes, size, MADV_HUGEPAGE);
    }
#endif
    return bytes;
}

static bool read_value(struct harness_value *value, uint8_t fill)
{
    static const char *const ROLES[] = {"input", "output", "param"};
    static const struct {
        const char *name;
        size_t size;
    } TYPES[] = {
#define HARNESS_TYPE(type, name, size) {name, size},
        HARNESS_TYPES(HARNESS_TYPE)
#undef HARNESS_TYPE
    };
    char line[MAX_LINE];
    char *words[HARNESS_MAX_RANK + 5];
    const unsigned count = read_words(line, words, LENGTH(words));

    if (count < 5) {
        return false;
    }
    value->rank = (unsigned)number(words[3]);
    if (value->rank > HARNESS_MAX_RANK || count != value->rank + 5) {
        return false;
    }
    while (value->role < LENGTH(ROLES) && strcmp(ROLES[value->role], words[0]) != 0) {
        value->role++;
    }
    while (value->type < HARNESS_TYPE_COUNT && strcmp(TYPES[value->type].name, words[1]) != 0) {
        value->type++;
    }
    if (value->role == LENGTH(ROLES) || value->type == HARNESS_TYPE_COUNT) {
        return false;
    }
    snprintf(value->name, sizeof value->name, "%s", words[2]);
    value->size = TYPES[value->type].size;
    for (unsigned i = 0; i < value->rank; i++) {
        value->shape[i] = number(words[4 + i]);
        value->size *= value->shape[i];
    }
    value->bytes = allocate_bytes(value->size + 1);
    ((char *)value->bytes)[value->size] = 0;
    const size_t sent = number(words[4 + value->rank]);
    if (value->role == HARNESS_OUTPUT) {
        memset(value->bytes, fill, value->size);
        return sent == 0;
    }
    return sent == value->size && read_bytes(value->bytes, sent);
}

static bool read_attachment(struct harness_attachment *attachment)
{
    char line[MAX_LINE];
    char *words[2];

    if (read_words(line, words, LENGTH(words)) != 2) {
        return false;
    }
    snprintf(attachment->name, sizeof attachment->name, "%s", words[0]);
    attachment->size = number(words[1]);
    attachment->bytes = allocate(1, attachment->size + 1);
    return read_bytes(attachment->bytes, attachment->size);
}

static bool read_invocation(struct harness_invocation *invocation)
{
    char line[MAX_LINE];
    char *words[9];

    if (read_words(line, words, LENGTH(words)) != LENGTH(words) || strcmp(words[0], "run") != 0) {
        return false;
    }
    *invocation = (struct harness_invocation){
        .guarded = strcmp(words[1], "behind") == 0 || strcmp(words[1], "before") == 0,
        .guards_before = strcmp(words[1], "before") == 0,
        .profiled = strcmp(words[1], "profiled") == 0,
        .fill = (uint8_t)number(words[2]),
        .repeat = (unsigned)number(words[3]),
        .limit = strtod(words[4], NULL),
        .threads = (unsigned)number(words[5]),
        .stack_size = number(words[6]),
        .count = (unsigned)number(words[7]),
        .attachment_count = (unsigned)number(words[8]),
    };
    invocation->values = allocate(invocation->count, sizeof *invocation->values);
    invocation->attachments =
        allocate(invocation->attachment_count, sizeof *invocation->attachments);
    for (unsigned i = 0; i < invocation->count; i++) {
        if (!read_value(&invocation->values[i], invocation->fill)) {
            return false;
        }
    }
    for (unsigned i = 0; i < invocation->attachment_count; i++) {
        if (!read_attachment(&invocation->attachments[i])) {
            return false;
        }
    }
    return true;
}

bool read_request(struct batch *batch)
{
    char line[MAX_LINE];
    char *words[5];

    if (read_words(line, words, LENGTH(words)) != LENGTH(words) || strcmp(words[0], "batch") != 0) {
        return false;
    }
    batch->count = (unsigned)number(words[1]);
    batch->alternates = number(words[2]) != 0;
    batch->counters = number(words[3]);
    batch->counters_size = number(words[4]);
    batch->invocations = allocate(batch->count, sizeof *batch->invocations);
    for (unsigned i = 0; i < batch->count; i++) {
        if (!read_invocation(&batch->invocations[i])) {
            return false;
        }
    }
    return true;
}

static void free_invocation(struct harness_invocation *invocation)
{
    for (unsigned i = 0; i < invocation->count; i++) {
        free(invocation->values[i].bytes);
    }
    for (unsigned i = 0; i < invocation->attachment_count; i++) {
        free(invocation->attachments[i].bytes);
    }
    free(invocation->values);
    free(invocation->attachments);
}

void free_request(struct batch *batch)
{
    for (unsigned i = 0; i < batch->count; i++) {
        free_invocation(&batch->invocations[i]);
    }
    free(batch->invocations);
}

/* ---- Records in shared memory ---- */

void record(const char *what, const void *bytes, size_t size)
{
    char line[HARNESS_MAX_NAME * 3];
    const size_t length = (size_t)snprintf(line, sizeof line, "%s %zu\n", what, size);

    if (shared->capacity - shared->used >= length + size) {
        memcpy(shared->records + shared->used, line, length);
        memcpy(shared->records + shared->used + length, bytes, size);
        shared->used += length + size;
    }
}

void record_text(const char *what, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    record(what, text, strlen(text));
}

/* ---- Answers ---- */

void open_answers(void)
{
    answers = fdopen(dup(STDOUT_FILENO), "wb");
    if (answers == NULL) {
        perror("stdout");
        exit(EXIT_FAILURE);
    }
    /* A vendor's library may print when it is loaded, and at its end. */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    fflush(stdout);
    fputs(GREETING, answers);
    fflush(answers);
}

void write_answer(const char *what, const void *bytes, size_t size)
{
    fprintf(answers, "%s %zu\n", what, size);
    fwrite(bytes, 1, size, answers);
}

void write_records(void)
{
    fwrite(shared->records, 1, shared->used, answers);
}

void end_answer(void)
{
    write_answer("end", "", 0);
    if (fflush(answers) != 0) { /* the client has closed its end */
        exit(EXIT_FAILURE);
    }
}
