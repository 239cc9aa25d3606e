/* Reads a list of `first` to `last` numbers. */
void ReadFloats(const ::onnx::NodeProto &pb, const char *name, bool is_required, int first,
                int last, std::vector<float> *values, RetCode *status)
{
    const auto *found = Find(pb, name, ::onnx::AttributeProto::FLOATS, is_required, status);

    if (found != nullptr && HasCount(pb, name, found->floats_size(), first, last, status)) {
        values->clear();
        for (int i = 0; i < found->floats_size(); i++) {
            values->push_back(found->floats(i));
        }
    }
}
