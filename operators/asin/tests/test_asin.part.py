HALVES = [uniform(-1, 1), special()]
FLOATS = [uniform(-1, 1), uniform(-1e-3, 1e-3), special()]
HALVES_ULP = 1
FLOATS_ULP = 1


def test_reference():
    assert values([1, 0, -1]).tolist() == [np.float32(np.pi / 2), 0, -np.float32(np.pi / 2)]
    assert np.isnan(values([1.5, -1.5, np.inf, np.nan])).all()
