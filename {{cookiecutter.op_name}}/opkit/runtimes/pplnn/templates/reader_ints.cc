/* Reads a list of `first` to `last` integers. */
void ReadInts(const ::onnx::NodeProto &pb, const char *name, bool is_required, int first, int last,
              std::vector<int32_t> *values, RetCode *status)
{
    const auto *found = Find(pb, name, ::onnx::AttributeProto::INTS, is_required, status);

    if (found != nullptr && HasCount(pb, name, found->ints_size(), first, last, status)) {
        values->clear();
        for (int i = 0; i < found->ints_size(); i++) {
            values->push_back(Narrow<int32_t>(pb, name, found->ints(i), status));
        }
    }
}
