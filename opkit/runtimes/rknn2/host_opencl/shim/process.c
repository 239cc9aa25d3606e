/* The process's actions on signals, and its environment. */
#include <signal.h>
#include <unistd.h>

#include "shim.h"

enum {
    SIGNALS = 32 /* real-time signals are libc's */
};

static struct sigaction actions[SIGNALS];
static char **variables; /* copies; the last is NULL */

static size_t count(char *const *list)
{
    size_t length = 0;

    while (list != NULL && list[length] != NULL) {
        length++;
    }
    return length;
}

void keep_process(void)
{
    const size_t length = count(environ);

    for (int i = 1; i < SIGNALS; i++) {
        sigaction(i, NULL, &actions[i]);
    }
    variables = calloc(length + 1, sizeof *variables);
    for (size_t i = 0; variables != NULL && i < length; i++) {
        variables[i] = strdup(environ[i]);
    }
}

/* Whether a variable was there, whatever its value. */
static bool was_there(const char *variable)
{
    const size_t length = strcspn(variable, "=");

    for (char **each = variables; *each != NULL; each++) {
        if (strncmp(*each, variable, length) == 0 && (*each)[length] == '=') {
            return true;
        }
    }
    return false;
}

static void restore_environment(void)
{
    char name[256];

    for (size_t i = count(environ); i-- > 0;) {
        if (!was_there(environ[i])) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(environ[i], "="), environ[i]);
            unsetenv(name);
        }
    }
    for (char **each = variables; *each != NULL; each++) {
        char *value = strchr(*each, '=');
        if (value != NULL) {
            *value = '\0';
            if (getenv(*each) == NULL || strcmp(getenv(*each), value + 1) != 0) {
                setenv(*each, value + 1, 1);
            }
        }
        free(*each);
    }
    free(variables);
}

void restore_process(void)
{
    for (int i = 1; i < SIGNALS; i++) {
        sigaction(i, &actions[i], NULL);
    }
    if (variables != NULL) {
        restore_environment();
    }
    variables = NULL;
}
