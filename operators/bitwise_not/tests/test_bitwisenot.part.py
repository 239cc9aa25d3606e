def test_reference():
    assert reference({"x": np.int8([0, -1, 5, -128])}, {})["y"].tolist() == [-1, 0, -6, 127]
    assert reference({"x": np.uint16([0, 65535, 5])}, {})["y"].tolist() == [65535, 0, 65530]
