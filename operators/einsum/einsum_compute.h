/*
 * The math of Einsum: sums of products of two tensors.
 *
 * Tensors are dense arrays with shapes in numpy's order (slowest dimension first), as the reference
 * in einsum_reference.py sees them: `shape[0]` to `shape[rank - 1]`, `size` elements in all.
 * Floating-point tensors are arrays of float, also if the model has float16.
 *
 * Each index of the equation belongs to one of four groups: those of both inputs and the output
 * number matrix products; those of the output and one input are the rows, or the columns; those of
 * no output are the terms of a sum. So each equation is a batch of matrix products, whose elements
 * are anywhere in memory: blocks of them are packed in the order of the innermost loop.
 */
#ifndef EINSUM_COMPUTE_H
#define EINSUM_COMPUTE_H

#include <string.h>

#include "generated/einsum.h"
#include "include/opkit/compute/processor.h"

enum {
    EINSUM_MAX_INDICES = 16,
    EINSUM_INPUTS = 2,
    EINSUM_OUTPUT = 2, /* the tensor after the inputs */
    EINSUM_ROWS = 48, /* rows, columns and terms of a block */
    EINSUM_COLUMNS = 128,
    EINSUM_TERMS = 128,
    EINSUM_MAX_TERMS = 1024, /* of a block with fewer columns */
    EINSUM_TILE_ROWS = 4,
    EINSUM_HIGH_TILE_ROWS = 6, /* with AVX2 */
    EINSUM_MAX_TILE_ROWS = 8, /* with AVX-512 */
    EINSUM_LANES = 8 /* columns of a vector */
};

/* An index of the equation: a letter, or a digit that counts the dimensions of `...` from the end.
 */
struct einsum_index {
    char name;
    size_t side;
    size_t uses; /* in the inputs */
    bool is_kept; /* in the output */
    size_t steps[EINSUM_INPUTS + 1]; /* in memory of each tensor; 0: its elements repeat */
};

struct einsum_plan {
    size_t count;
    struct einsum_index indices[EINSUM_MAX_INDICES];
    size_t rank; /* of the output; 0 for a single sum */
    size_t output[OPKIT_MAX_RANK]; /* the indices of its dimensions */
};

/* The names of a term's dimensions. */
struct einsum_term {
    size_t rank;
    char names[OPKIT_MAX_RANK];
};

static bool einsum_is_letter(char each)
{
    return (each >= 'A' && each <= 'Z') || (each >= 'a' && each <= 'z');
}

/*
 * Reads a term up to a comma, an arrow or the end. `...` stands for the dimensions without letters
 * of an input's `rank`; of the output, for `dots` dimensions. Returns NULL, or an error message.
 */
static const char *einsum_read_term(const char **text, bool is_output, size_t rank, size_t dots,
                                    struct einsum_term *term)
{
    char letters[OPKIT_MAX_RANK];
    size_t count = 0, before = 0; /* letters; those before `...` */
    bool has_dots = false;

    for (; **text != '\0' && **text != ',' && **text != '-'; ++*text) {
        if (!has_dots && strncmp(*text, "...", 3) == 0) {
            has_dots = true;
            before = count;
            *text += 2;
        } else if (einsum_is_letter(**text)) {
            if (count == OPKIT_MAX_RANK) {
                return is_output ? "output must have at most 6 dimensions"
                                 : "equation has more letters than dimensions";
            }
            letters[count++] = **text;
        } else if (**text != ' ') {
            return "equation must have letters, commas, `...` and ->";
        }
    }
    if (!is_output) {
        if (count > rank) {
            return "equation has more letters than dimensions";
        }
        if (!has_dots && count != rank) {
            return "equation must have a letter for each dimension";
        }
        dots = rank - count;
    } else if (dots > 0 && !has_dots) {
        return "equation must have the inputs' `...` in the output, too";
    }
    if (count + dots > OPKIT_MAX_RANK) {
        return "output must have at most 6 dimensions";
    }
    term->rank = count + dots;
    memcpy(term->names, letters, before);
    for (size_t i = 0; i < dots; i++) {
        term->names[before + i] = (char)('0' + (dots - 1 - i));
    }
    memcpy(term->names + before + dots, letters + before, count - before);
    return NULL;
}

/* Returns the index of a name, or `plan->count`. */
static size_t einsum_find(const struct einsum_plan *plan, char name)
{
    size_t i = 0;

    while (i < plan->count && plan->indices[i].name != name) {
        i++;
    }
    return i;
}

/* Adds the dimensions of an input. Returns NULL, or an error message. */
static const char *einsum_add_input(struct einsum_plan *plan, const struct einsum_term *term,
                                    const struct opkit_tensor *x, size_t input)
{
    size_t step = 1;

    for (size_t axis = term->rank; axis-- > 0;) {
        const size_t i = einsum_find(plan, term->names[axis]), side = x->shape[axis];
        struct einsum_index *index = &plan->indices[i];

        if (i == EINSUM_MAX_INDICES) {
            return "equation must have at most 16 different indices";
        }
        if (i == plan->count) {
            memset(index, 0, sizeof *index);
            index->name = term->names[axis];
            index->side = 1;
            plan->count++;
        }
        if (side != index->side && side != 1 && index->side != 1) {
            return "dimensions of a letter must be equal, or 1";
        }
        index->side = side != 1 ? side : index->side;
        index->steps[input] += side > 1 ? step : 0; /* along a diagonal: the sum of its steps */
        index->uses++;
        step *= side;
    }
    return NULL;
}

/* Writes the output's term of an equation without one: `...`, and the letters used once, sorted. */
static const char *einsum_default_output(const struct einsum_plan *plan, size_t dots,
                                         struct einsum_term *term)
{
    term->rank = 0;
    for (char name = 'A'; name <= 'z'; name++) {
        const size_t i = einsum_find(plan, name);
        if (i < plan->count && plan->indices[i].uses == 1) {
            if (term->rank + dots == OPKIT_MAX_RANK) {
                return "output must have at most 6 dimensions";
            }
            term->names[dots + term->rank++] = name;
        }
    }
    for (size_t i = 0; i < dots; i++) {
        term->names[i] = (char)('0' + (dots - 1 - i));
    }
    term->rank += dots;
    return NULL;
}

/* Adds the dimensions of the output. Returns NULL, or an error message. */
static const char *einsum_add_output(struct einsum_plan *plan, const struct einsum_term *term)
{
    size_t step = 1;

    plan->rank = term->rank;
    for (size_t axis = term->rank; axis-- > 0;) {
        const size_t i = einsum_find(plan, term->names[axis]);

        if (i == plan->count || plan->indices[i].is_kept) {
            return "equation must have letters of the output once, and in an input";
        }
        plan->indices[i].is_kept = true;
        plan->indices[i].steps[EINSUM_OUTPUT] = step;
        plan->output[axis] = i;
        step *= plan->indices[i].side;
    }
    return NULL;
}

/* Reads the equation for inputs of given shapes. Returns NULL, or an error message. */
static const char *einsum_read(const char *equation, const struct opkit_tensor *const *inputs,
                               struct einsum_plan *plan)
{
    struct einsum_term term;
    size_t dots = 0;

    plan->count = 0;
    for (size_t input = 0; input < EINSUM_INPUTS; input++) {
        const char *problem = einsum_read_term(&equation, false, inputs[input]->rank, 0, &term);
        if (problem == NULL) {
            problem = einsum_add_input(plan, &term, inputs[input], input);
        }
        if (problem != NULL) {
            return problem;
        }
        if (input == 0 ? *equation++ != ',' : *equation == ',') {
            return "equation must have 2 inputs";
        }
    }
    while (einsum_find(plan, (char)('0' + dots)) < plan->count) {
        dots++;
    }
    const char *problem = NULL;
    if (*equation == '\0') {
        problem = einsum_default_output(plan, dots, &term);
    } else if (strncmp(equation, "->", 2) == 0) {
        equation += 2;
        problem = einsum_read_term(&equation, true, 0, dots, &term);
    }
    if (problem == NULL && *equation != '\0') {
        problem = "equation must have letters, commas, `...` and ->";
    }
    return problem == NULL ? einsum_add_output(plan, &term) : problem;
}

/* Indices that are used alike. The first one varies fastest. */
struct einsum_group {
    size_t size; /* the product of the sides */
    size_t rank;
    const struct einsum_index *indices[EINSUM_MAX_INDICES];
};

/* A batch of matrix products. */
struct einsum_task {
    size_t left; /* the input with the rows; the other one has the columns */
    const float *inputs[EINSUM_INPUTS];
    float *y;
    bool has_contiguous_columns; /* in the output */
    struct einsum_group batch, rows, columns, terms;
};

static void einsum_group_add(struct einsum_group *group, const struct einsum_index *index)
{
    group->indices[group->rank++] = index;
    group->size *= index->side;
}

/* Puts every index into its group, in the output's order. */
static void einsum_group_indices(const struct einsum_plan *plan, struct einsum_task *task)
{
    for (size_t axis = plan->rank; axis-- > 0;) {
        const struct einsum_index *index = &plan->indices[plan->output[axis]];
        const bool is_left = index->steps[task->left] > 0;
        const bool is_right = index->steps[1 - task->left] > 0;

        if (index->side > 1) {
            einsum_group_add(is_left && is_right ? &task->batch
                             : is_left           ? &task->rows
                                                 : &task->columns,
                             index);
        }
    }
    for (size_t i = 0; i < plan->count; i++) {
        if (!plan->indices[i].is_kept && plan->indices[i].side != 1) {
            einsum_group_add(&task->terms, &plan->indices[i]);
        }
    }
}

/* Computes the offsets of `count` places of a group in a tensor, from `start` on. */
static void einsum_offsets(const struct einsum_group *group, size_t tensor, size_t start,
                           size_t count, size_t *offsets)
{
    size_t places[EINSUM_MAX_INDICES];
    size_t offset = 0;

    if (group->rank == 1) {
        const size_t step = group->indices[0]->steps[tensor];
        offset = start * step;
        for (size_t place = 0; place < count; place++) {
            offsets[place] = offset;
            offset += step;
        }
        return;
    }
    for (size_t i = 0; i < group->rank; i++) {
        places[i] = start % group->indices[i]->side;
        start /= group->indices[i]->side;
        offset += places[i] * group->indices[i]->steps[tensor];
    }
    for (size_t place = 0; place < count; place++) {
        offsets[place] = offset;
        for (size_t i = 0; i < group->rank; i++) {
            const struct einsum_index *index = group->indices[i];

            offset += index->steps[tensor];
            if (++places[i] < index->side) {
                break;
            }
            offset -= index->side * index->steps[tensor];
            places[i] = 0;
        }
    }
}

/* Returns whether offsets are those of neighbors in memory. */
static bool einsum_are_neighbors(const size_t *offsets, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (offsets[i] != offsets[0] + i) {
            return false;
        }
    }
    return true;
}

typedef float einsum_float4 __attribute__((vector_size(16)));

/* Copies 4 neighbors of each of 4 places: the elements of a place become a column of `to`. */
static inline void einsum_transpose(const float *x, const size_t *places, float *to, size_t width)
{
    einsum_float4 a, b, c, d;

    memcpy(&a, x + places[0], sizeof a);
    memcpy(&b, x + places[1], sizeof b);
    memcpy(&c, x + places[2], sizeof c);
    memcpy(&d, x + places[3], sizeof d);
    const einsum_float4 rows[] = {{a[0], b[0], c[0], d[0]},
                                  {a[1], b[1], c[1], d[1]},
                                  {a[2], b[2], c[2], d[2]},
                                  {a[3], b[3], c[3], d[3]}};
    for (size_t i = 0; i < 4; i++) {
        memcpy(to + i * width, &rows[i], sizeof rows[i]);
    }
}

/*
 * Packs `count` rows, or columns, of some terms: panels of `width`, a multiple of 4, in which the
 * elements of a term are neighbors. The last panel is filled up by 0.
 */
static void einsum_pack(const float *x, const size_t *places, size_t count, size_t width,
                        const size_t *terms, size_t term_count, float *packed)
{
    const bool are_terms_neighbors = einsum_are_neighbors(terms, term_count);

    for (size_t first = 0; first < count; first += width) {
        const size_t rest = count - first < width ? count - first : width;
        const size_t *offsets = places + first;
        const bool are_neighbors = rest == width && einsum_are_neighbors(offsets, width);
        const bool is_transposed = are_terms_neighbors && rest == width && !are_neighbors;
        const size_t transposed = is_transposed ? term_count / 4 * 4 : 0;

        for (size_t term = 0; term < transposed; term += 4) {
            for (size_t i = 0; i < width; i += 4) {
                einsum_transpose(x + terms[term], offsets + i, packed + i, width);
            }
            packed += 4 * width;
        }
        for (size_t term = transposed; term < term_count; term++) {
            const float *from = x + terms[term];
            for (size_t i = 0; are_neighbors && i < width; i += 4) {
                memcpy(packed + i, from + offsets[i], 4 * sizeof *packed);
            }
            for (size_t i = are_neighbors ? rest : 0; i < rest; i++) {
                packed[i] = from[offsets[i]];
            }
            for (size_t i = rest; i < width; i++) {
                packed[i] = 0.0F;
            }
            packed += width;
        }
    }
}

typedef float einsum_vector __attribute__((vector_size(4 * EINSUM_LANES)));

/*
 * Computes sums of a tile: `height` rows by `vectors` vectors of columns, 1 or 2. The elements of a
 * row are `step` apart. Inlined, so that all sums are in registers.
 */
OPKIT_INLINE void einsum_tile(const float *const *rows, size_t height, size_t step,
                              const float *right, size_t terms, size_t vectors, float *sums)
{
    OPKIT_FUSED
    einsum_vector sum[EINSUM_HIGH_TILE_ROWS][2] = {{{0}}};

    for (size_t term = 0; term < terms; term++) {
        einsum_vector columns[2];
        memcpy(columns, right + term * vectors * EINSUM_LANES, vectors * sizeof *columns);
        for (size_t row = 0; row < height; row++) {
            for (size_t i = 0; i < vectors; i++) {
                sum[row][i] += rows[row][term * step] * columns[i];
            }
        }
    }
    for (size_t row = 0; row < height; row++) {
        memcpy(sums + row * vectors * EINSUM_LANES, sum[row], vectors * sizeof **sum);
    }
}

/* Of packed rows. */
static void einsum_tile_baseline(const float *const *rows, size_t count, size_t step,
                                 const float *right, size_t terms, float *sums)
{
    (void)count, (void)step;
    const float *const packed[] = {rows[0], rows[0] + 1, rows[0] + 2, rows[0] + 3};
    einsum_tile(packed, EINSUM_TILE_ROWS, EINSUM_TILE_ROWS, right, terms, 1, sums);
}

#ifdef OPKIT_AVX2
OPKIT_AVX2 static void einsum_tile_avx2(const float *const *rows, size_t count, size_t step,
                                        const float *right, size_t terms, float *sums)
{
    const float *own[EINSUM_HIGH_TILE_ROWS]; /* in registers */

    memcpy(own, rows, sizeof own);
    if (count > EINSUM_TILE_ROWS) {
        einsum_tile(own, EINSUM_HIGH_TILE_ROWS, step, right, terms, 2, sums);
    } else {
        einsum_tile(own, EINSUM_TILE_ROWS, step, right, terms, 2, sums);
    }
}
#endif

#ifdef OPKIT_AVX512
typedef float einsum_wide __attribute__((vector_size(8 * EINSUM_LANES)));

/* Computes sums of a tile of more rows; one vector has its columns. */
OPKIT_AVX512 static void einsum_tile_avx512(const float *const *rows, size_t count, size_t step,
                                            const float *right, size_t terms, float *sums)
{
    OPKIT_FUSED
    einsum_wide sum[EINSUM_MAX_TILE_ROWS] = {{0}};
    const float *own[EINSUM_MAX_TILE_ROWS]; /* in registers */

    (void)count;
    memcpy(own, rows, sizeof own);
    for (size_t term = 0; term < terms; term++) {
        einsum_wide columns;

        memcpy(&columns, right + term * 2 * EINSUM_LANES, sizeof columns);
        for (size_t row = 0; row < EINSUM_MAX_TILE_ROWS; row++) {
            sum[row] += own[row][term * step] * columns;
        }
    }
    memcpy(sums, sum, sizeof sum);
}
#endif

/* A function for tiles, of `count` rows or more. */
struct einsum_kernel {
    void (*run)(const float *const *rows, size_t count, size_t step, const float *right,
                size_t terms, float *sums);
    size_t rows, width; /* of a tile; the width: columns */
    bool takes_any_rows; /* also rows that are not packed, if their terms are neighbors */
};

static struct einsum_kernel einsum_choose_kernel(void)
{
    struct einsum_kernel kernel = {einsum_tile_baseline, EINSUM_TILE_ROWS, EINSUM_LANES, false};
#ifdef OPKIT_AVX2
    if (opkit_has_avx2()) {
        kernel.run = einsum_tile_avx2;
        kernel.rows = EINSUM_HIGH_TILE_ROWS;
        kernel.width = 2 * EINSUM_LANES;
        kernel.takes_any_rows = true; /* an instruction repeats an element of memory in a vector */
    }
#endif
#ifdef OPKIT_AVX512
    if (opkit_has_avx512()) {
        kernel.run = einsum_tile_avx512;
        kernel.rows = EINSUM_MAX_TILE_ROWS;
    }
#endif
    return kernel;
}

/* A block of a matrix product, and its places in the output. */
struct einsum_block {
    const struct einsum_task *task;
    struct einsum_kernel kernel;
    size_t rows, columns, terms;
    bool is_first; /* the block with the first terms of its sums */
    bool is_packed; /* the rows are in `left` */
    size_t row_places[EINSUM_ROWS];
    size_t column_places[EINSUM_COLUMNS];
    /* Of the rows; of a tile with less, the last one repeats. */
    const float *starts[EINSUM_ROWS + EINSUM_MAX_TILE_ROWS];
    size_t step; /* from one term of a row to the next */
    float left[EINSUM_ROWS * EINSUM_TERMS];
    /* A vector is in one cache line. */
    float right[EINSUM_COLUMNS * EINSUM_TERMS] __attribute__((aligned(64)));
};

/* How a tile's rows are written. */
struct einsum_target {
    bool are_neighbors; /* the columns, in the output */
    bool is_first; /* else they are added to the output */
};

/* Writes a row of a tile, or adds it to the output: by vectors, if its columns are neighbors. */
static inline void einsum_write(struct einsum_target target, const float *sums,
                                const size_t *places, size_t count, float *y)
{
    size_t i = 0;

    if (target.are_neighbors) {
        float *to = y + places[0];
        for (; i + EINSUM_LANES <= count; i += EINSUM_LANES) {
            einsum_vector sum;
            memcpy(&sum, sums + i, sizeof sum);
            if (!target.is_first) {
                einsum_vector old;
                memcpy(&old, to + i, sizeof old);
                sum += old;
            }
            memcpy(to + i, &sum, sizeof sum);
        }
    }
    for (; i < count; i++) {
        y[places[i]] = target.is_first ? sums[i] : y[places[i]] + sums[i];
    }
}

/* Multiplies the packed rows and columns of a block. */
static void einsum_run_block(const struct einsum_block *block, float *y)
{
    const size_t height = block->kernel.rows, width = block->kernel.width;
    const struct einsum_target target = {block->task->has_contiguous_columns, block->is_first};
    float sums[EINSUM_MAX_TILE_ROWS * 2 * EINSUM_LANES];

    for (size_t column = 0; column < block->columns; column += width) {
        const size_t columns = block->columns - column < width ? block->columns - column : width;
        const size_t *places = block->column_places + column;

        for (size_t row = 0; row < block->rows; row += height) {
            const size_t rows = block->rows - row < height ? block->rows - row : height;

            block->kernel.run(block->starts + row, rows, block->step,
                              block->right + column * block->terms, block->terms, sums);
            for (size_t i = 0; i < rows; i++) {
                einsum_write(target, sums + i * width, places, columns,
                             y + block->row_places[row + i]);
            }
        }
    }
}

static size_t einsum_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sets the rows of a block: where they are in the input, or packed. */
static void einsum_set_rows(struct einsum_block *block, const float *x, const size_t *places,
                            const size_t *terms)
{
    block->step = block->is_packed ? (size_t)EINSUM_TILE_ROWS : 1;
    if (block->is_packed) {
        einsum_pack(x, places, block->rows, EINSUM_TILE_ROWS, terms, block->terms, block->left);
        for (size_t row = 0; row < block->rows; row++) {
            const size_t panel = row / EINSUM_TILE_ROWS * EINSUM_TILE_ROWS;
            block->starts[row] = block->left + panel * block->terms + row - panel;
        }
    } else {
        for (size_t row = 0; row < block->rows; row++) {
            block->starts[row] = x + places[row] + terms[0];
        }
    }
    for (size_t row = 0; row < EINSUM_MAX_TILE_ROWS; row++) {
        block->starts[block->rows + row] = block->starts[block->rows - 1];
    }
}

/* Computes a matrix product. */
static void einsum_multiply(const struct einsum_task *task, const float *left, const float *right,
                            float *y, struct einsum_block *block)
{
    const size_t other = 1 - task->left;
    size_t places[EINSUM_COLUMNS], left_terms[EINSUM_MAX_TERMS], right_terms[EINSUM_MAX_TERMS];

    for (size_t column = 0; column < task->columns.size; column += EINSUM_COLUMNS) {
        block->columns = einsum_min(task->columns.size - column, EINSUM_COLUMNS);
        einsum_offsets(&task->columns, EINSUM_OUTPUT, column, block->columns, block->column_places);
        /* The fewer columns, the more terms: rows in memory are read in longer pieces. */
        const size_t tiles = (block->columns + block->kernel.width - 1) / block->kernel.width;
        const size_t most_terms = einsum_min(
            EINSUM_COLUMNS / (tiles * block->kernel.width) * EINSUM_TERMS, EINSUM_MAX_TERMS);
        for (size_t term = 0; term < task->terms.size; term += most_terms) {
            block->terms = einsum_min(task->terms.size - term, most_terms);
            block->is_first = term == 0;
            einsum_offsets(&task->terms, task->left, term, block->terms, left_terms);
            block->is_packed =
                !block->kernel.takes_any_rows || !einsum_are_neighbors(left_terms, block->terms);
            const size_t fitting = EINSUM_ROWS * EINSUM_TERMS / EINSUM_TILE_ROWS / block->terms;
            const size_t most_rows = block->is_packed
                                         ? einsum_min(fitting * EINSUM_TILE_ROWS, EINSUM_ROWS)
                                         : (size_t)EINSUM_ROWS;
            einsum_offsets(&task->terms, other, term, block->terms, right_terms);
            einsum_offsets(&task->columns, other, column, block->columns, places);
            einsum_pack(right, places, block->columns, block->kernel.width, right_terms,
                        block->terms, block->right);
            for (size_t row = 0; row < task->rows.size; row += most_rows) {
                block->rows = einsum_min(task->rows.size - row, most_rows);
                einsum_offsets(&task->rows, EINSUM_OUTPUT, row, block->rows, block->row_places);
                einsum_offsets(&task->rows, task->left, row, block->rows, places);
                einsum_set_rows(block, left, places, left_terms);
                einsum_run_block(block, y);
            }
        }
    }
}

/* Computes all matrix products. */
static void einsum_run(const struct einsum_task *task)
{
    struct einsum_block block;
    size_t offsets[EINSUM_INPUTS + 1];

    block.task = task;
    block.kernel = einsum_choose_kernel();
    for (size_t i = 0; i < task->batch.size; i++) {
        for (size_t tensor = 0; tensor <= EINSUM_OUTPUT; tensor++) {
            einsum_offsets(&task->batch, tensor, i, 1, &offsets[tensor]);
        }
        einsum_multiply(task, task->inputs[task->left] + offsets[task->left],
                        task->inputs[1 - task->left] + offsets[1 - task->left],
                        task->y + offsets[EINSUM_OUTPUT], &block);
    }
}

/*
 * Computes the outputs:
 *
 *   inputs->input_0     any shape; a letter of the equation for each dimension
 *   inputs->input_1     the same
 *   params->equation    the dimensions' letters, as in bij,bjk->bik
 *   outputs->output     the sums; a single one is [1]
 *
 * Returns NULL, or an error message: it is logged, and the call fails.
 */
static const char *einsum_compute(const struct einsum_inputs *inputs,
                                  const struct einsum_params *params,
                                  struct einsum_outputs *outputs)
{
    const struct opkit_tensor *const tensors[] = {&inputs->input_0, &inputs->input_1};
    const struct einsum_group empty = {1, 0, {NULL}};
    struct einsum_plan plan;
    struct einsum_task task;
    size_t size = 1;

    if (inputs->input_0.type != OPKIT_FLOAT32 || inputs->input_1.type != OPKIT_FLOAT32 ||
        outputs->output.type != OPKIT_FLOAT32) {
        return "inputs and output must be float16 or float32";
    }
    const char *problem = einsum_read(params->equation, tensors, &plan);
    if (problem != NULL) {
        return problem;
    }
    for (size_t i = 0; i < plan.rank; i++) {
        size *= plan.indices[plan.output[i]].side;
    }
    if (outputs->output.size != size) {
        return "output must have a dimension for each of its letters";
    }

    /* The last dimension of the output is that of columns, if an input lacks it. */
    const bool is_of_first = plan.rank > 0 && plan.indices[plan.output[plan.rank - 1]].steps[0] > 0;
    task.left = is_of_first ? 1 : 0;
    task.inputs[0] = inputs->input_0.float32;
    task.inputs[1] = inputs->input_1.float32;
    task.y = outputs->output.float32;
    task.batch = task.rows = task.columns = task.terms = empty;
    einsum_group_indices(&plan, &task);
    task.has_contiguous_columns =
        task.columns.rank == 1 && task.columns.indices[0]->steps[EINSUM_OUTPUT] == 1;
    if (task.terms.size == 0) {
        memset(task.y, 0, size * sizeof *task.y);
    } else {
        einsum_run(&task);
    }
    return NULL;
}

#endif
