def test_reference():
    a, b = np.int8([[12, -1, -128, 5], [10, 77, 127, -5]])
    assert reference({"a": a, "b": b}, {})["c"].tolist() == [6, -78, -1, -2]
