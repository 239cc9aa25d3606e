HALVES = [uniform(-5, 5), special()]
FLOATS = [
    uniform(-5, 5),
    uniform(-1e-44, 1e-44),  # subnormal numbers, and zeros
    special(),
]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([-2, -1e-45, -0.0, 0, np.inf]).tolist() == [-1, -1, 0, 0, 1]
    assert np.isnan(values([np.nan])).all()
