ALPHA, GAMMA = np.float32([1.6732631921768188, 1.0507010221481323])
HALVES = [uniform(-5, 5), special()]
FLOATS = [
    uniform(-20, 20),  # results down to -gamma * alpha
    uniform(-1e-3, 1e-3),  # e^x - 1 without cancellation
    special(),
]
PARAMS = [*vary_params(alpha=[0.5], gamma=[-2.0])]
HALVES_ULP = 1
FLOATS_ULP = 2  # 1 ulp of e^x - 1, and half of one for each of two products


def test_reference():
    assert values([-np.inf, 0, 1, np.inf]).tolist() == [-ALPHA * GAMMA, 0, GAMMA, np.inf]
    assert values([-1], alpha=2, gamma=3).tolist() == [np.float32(6 * np.expm1(-1.0))]
    assert np.isnan(values([np.nan])).all()


def test_reference_near_zero():
    slope = float(ALPHA) * float(GAMMA)
    tiny = np.float32([-1e-30, -1e-10])
    assert values(tiny).tolist() == (tiny.astype(float) * slope).astype(np.float32).tolist()
