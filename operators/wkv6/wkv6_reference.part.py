# The time mixing of RWKV-6: B. Peng et al., Eagle and Finch: RWKV with Matrix-Valued
# States and Dynamic Recurrence (2024). A head has a state, a matrix of keys x values. At
# each position, the output is the receptance times the sum of the state and u * key *
# value; the decay multiplies the rows of the state; then key * value is added to it.
#
# Where the paper is open: w is the decay's logarithm, -exp(d) with the paper's d, because
# halves near 1 lose too many digits of a decay.
r, w, k = (columns(name) for name in "rwk")
u = inputs["u"].astype(np.float64)[..., np.newaxis]
for i in range(length):
    added = k[:, i] * v[:, i]
    y[:, i] = r[:, i].swapaxes(-1, -2) @ (state + u * added)
    state = np.exp(w[:, i]) * state + added
