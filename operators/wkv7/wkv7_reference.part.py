# The time mixing of RWKV-7: B. Peng et al., RWKV-7 Goose with Expressive Dynamic State
# Evolution (2025). A head has a state, a matrix of keys x values: the transpose of the
# paper's. At each position, the decay multiplies its rows; to them, b * (a times the state
# before) is added, and key * value; the output is the receptance times the new state.
#
# In the paper, a is the negative removal key, and b the removal key times the learning
# rate. Where it is open: w is the decay's logarithm, because halves near 1 lose too many
# digits of a decay.
r, w, k, a, b = (columns(name) for name in "rwkab")
for i in range(length):
    removed = b[:, i] * (a[:, i].swapaxes(-1, -2) @ state)
    state = np.exp(w[:, i]) * state + removed + k[:, i] * v[:, i]
    y[:, i] = r[:, i].swapaxes(-1, -2) @ state
