ppl::common::dataformat_t FormatOf${title}(const InputOutputInfo &info)
{
    const auto *first = info.GetInput<TensorImpl>(0);

    if (first == nullptr || (first->GetShape()->GetDataType() != ppl::common::DATATYPE_FLOAT32 &&
                             first->GetShape()->GetDataType() != ppl::common::DATATYPE_FLOAT16)) {
        return ppl::common::DATAFORMAT_NDARRAY;
    }
    for (uint32_t i = 1; i < info.GetInputCount(); i++) {
        const auto *other = info.GetInput<TensorImpl>(i);
        if (other == nullptr || !IsLaidOutAs(*first->GetShape(), *other->GetShape())) {
            return ppl::common::DATAFORMAT_NDARRAY;
        }
    }
    return first->GetShape()->GetDataFormat();
}

