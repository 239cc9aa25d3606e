/* Reads a list of integers. */
void ReadInts(const ::onnx::NodeProto &pb, const char *name, bool is_required, int length,
              std::vector<int32_t> *values, RetCode *status)
{
    const auto *found = Find(pb, name, ::onnx::AttributeProto::INTS, is_required, status);

    if (found != nullptr && HasLength(pb, name, found->ints_size(), length, status)) {
        values->clear();
        for (int i = 0; i < found->ints_size(); i++) {
            values->push_back(Narrow<int32_t>(pb, name, found->ints(i), status));
        }
    }
}
