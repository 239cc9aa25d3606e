/* Returns the place in a broadcast input of element i of the output. */
int ${lower}_place(int i, int rank, __constant const int *sizes, __constant const int *steps)
{
    int place = 0;

    for (int d = rank - 1; d >= 0; d--) {
        place += i % sizes[d] * steps[d];
        i /= sizes[d];
    }
    return place;
}

