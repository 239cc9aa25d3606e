HALVES = [uniform(-5, 5), special()]
FLOATS = [uniform(-2, 2), uniform(-1e6, 1e6), uniform(-3e38, 3e38), special()]
HALVES_ULP = 1
FLOATS_ULP = 1


def test_reference():
    assert values([0, np.pi / 4, -1]).tolist() == [0, 1, np.float32(np.tan(-1))]
    assert np.isnan(values([np.inf, np.nan])).all()
