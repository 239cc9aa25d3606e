HALVES = [uniform(-12, 12), special()]
FLOATS = [
    uniform(-10, 10),
    uniform(-1e-3, 1e-3),
    uniform(-90, 90),  # to infinity
    special(),
]
HALVES_ULP = 1
FLOATS_ULP = 1


def test_reference():
    assert values([0, -1, np.inf, -100]).tolist() == [0, np.float32(np.sinh(-1)), np.inf, -np.inf]
    assert np.isnan(values([np.nan])).all()
