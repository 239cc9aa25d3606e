HALVES = [uniform(-12, 12), special()]
FLOATS = [
    uniform(-10, 10),
    uniform(-90, 90),  # to infinity
    special(),
]
HALVES_ULP = 1
FLOATS_ULP = 1


def test_reference():
    expected = [1, np.float32(np.cosh(1)), np.inf, np.inf, np.inf]
    assert values([0, -1, np.inf, -np.inf, 100]).tolist() == expected
    assert np.isnan(values([np.nan])).all()
