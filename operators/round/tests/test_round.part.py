HALVES = [uniform(-5, 5), special()]
FLOATS = [
    uniform(-100, 100),
    uniform(-2e7, 2e7),  # also without a fraction
    special(),
]
HALVES_ULP = 0
FLOATS_ULP = 0


def test_reference():
    assert values([-1.5, -0.5, 0.5, 1.5, 2.5, 2.6, np.inf]).tolist() == [-2, 0, 0, 2, 2, 3, np.inf]
    assert np.isnan(values([np.nan])).all()
    assert np.signbit(values([-0.5, -0.0])).all()


def test_ties():
    check_cpu_kernel(Case("ties", {"x": np.arange(-40, 41, dtype=np.float32) / 2}))
