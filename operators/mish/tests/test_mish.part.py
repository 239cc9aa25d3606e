HALVES = [uniform(-1, 1), uniform(-30, 30), special()]
FLOATS = [uniform(-1, 1), uniform(-30, 30), special()]
HALVES_ULP = 1
FLOATS_ULP = 4


def test_reference():
    expected = [0, 0.86509839, -0.30340146, 20, -4.12230723e-08]
    np.testing.assert_allclose(values([0, 1, -1, 20, -20]), expected, rtol=1e-6)
