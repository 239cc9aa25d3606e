
/*
 * Describes tensors with channels in blocks as rows of all elements, with those of the padding: an
 * element of the output depends on the inputs' elements at its own position alone. All tensors must
 * have the format of the first input and, unless that is NDARRAY, its shape.
 */
RetCode DescribeAsRows(InputOutputInfo *info, opkit_pplnn_tensor *inputs,
                       opkit_pplnn_tensor *output)
{
    const opkit_pplnn_tensor first = inputs[0];
    const auto format = info->GetInput<TensorImpl>(0)->GetShape()->GetDataFormat();
    const bool is_dense = format == ppl::common::DATAFORMAT_NDARRAY;

    for (uint32_t i = 0; i <= INPUT_COUNT; i++) {
        const bool is_input = i < INPUT_COUNT;
        const auto *tensor =
            is_input ? info->GetInput<TensorImpl>(i) : info->GetOutput<TensorImpl>(0);
        const auto *shape = tensor->GetShape();
        opkit_pplnn_tensor *row = is_input ? &inputs[i] : output;
        const bool has_first_dims = row->rank == first.rank &&
                                    memcmp(row->dims, first.dims, row->rank * sizeof(int64_t)) == 0;

        if (shape->GetDataFormat() != format || !(is_dense || has_first_dims)) {
            LOG(ERROR) << "tensor[" << tensor->GetName() << "] has the data format ["
                       << shape->GetDataFormat() << "], the first input [" << format
                       << "]: " << NAME << " takes NDARRAY, or one format and one shape";
            return RC_UNSUPPORTED;
        }
        if (!is_dense) {
            row->rank = 1;
            row->dims[0] = static_cast<int64_t>(shape->CalcElementsIncludingPadding());
        }
    }
    return RC_SUCCESS;
}

/* Whether two tensors have one format, one data type and one shape, known while a model loads. */
bool IsLaidOutAs(const TensorShape &one, const TensorShape &other)
{
    bool is_same = one.GetDataFormat() == other.GetDataFormat() &&
                   one.GetDataType() == other.GetDataType() &&
                   one.GetRealDimCount() == other.GetRealDimCount();

    for (uint32_t i = 0; i < one.GetRealDimCount() && is_same; i++) {
        is_same = one.GetDim(i) == other.GetDim(i) && one.GetDim(i) > 0;
    }
    return is_same;
}
