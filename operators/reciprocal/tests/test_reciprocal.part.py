HALVES = [uniform(-5, 5), special()]
FLOATS = [
    uniform(-5, 5),
    uniform(-1e-38, 1e-38),  # to infinity
    special(),
]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([2, -0.25, 0.0, -0.0, -np.inf]).tolist() == [0.5, -4, np.inf, -np.inf, 0]
    assert np.isnan(values([np.nan])).all()
