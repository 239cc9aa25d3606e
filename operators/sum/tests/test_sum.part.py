def test_reference():
    assert values([1, 2]) == [1, 2]
    assert values([1, 2], [3, 5]) == [4, 7]
    assert values([[1], [2]], [10, 20], [3]) == [[14, 24], [15, 25]]
    assert values([np.inf, 1], [1, -np.inf]) == [np.inf, -np.inf]
    assert np.signbit(values([-0.0, -0.0, 0.0], [-0.0, 0.0, 0.0])).tolist() == [True, False, False]


def test_reference_rounds_once():
    assert values([2**24], [1], [1]) == [2**24 + 2]
