HALVES = [uniform(-5, 5), special()]
FLOATS = [uniform(-2, 2), uniform(-1e-3, 1e-3), uniform(-1e6, 1e6), special()]
HALVES_ULP = 1
FLOATS_ULP = 1


def test_reference():
    assert values([0, 1, -np.inf]).tolist() == [0, np.float32(np.pi / 4), -np.float32(np.pi / 2)]
    assert np.isnan(values([np.nan])).all()
