HALVES = [uniform(-1, 1), special()]
FLOATS = [
    uniform(-1, 1),
    uniform(0.99, 1),  # results near 0
    special(),
]
HALVES_ULP = 1
FLOATS_ULP = 1


def test_reference():
    assert values([1, 0, -1]).tolist() == [0, np.float32(np.pi / 2), np.float32(np.pi)]
    assert np.isnan(values([1.5, -1.5, np.inf, np.nan])).all()
