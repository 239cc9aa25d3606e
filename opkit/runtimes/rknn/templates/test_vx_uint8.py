# The quantization of the tensors on the board: number = scale * (element - zero_point). With it the
# reference gets and returns numbers; without it, as for the CPU kernel, it gets the elements.
FORMATS = {
$formats
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_vx_kernel(case):
    check_vx_kernel(case, formats=FORMATS)
