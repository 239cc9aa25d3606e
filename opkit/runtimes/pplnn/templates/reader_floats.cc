/* Reads a list of numbers. */
void ReadFloats(const ::onnx::NodeProto &pb, const char *name, bool is_required, int length,
                std::vector<float> *values, RetCode *status)
{
    const auto *found = Find(pb, name, ::onnx::AttributeProto::FLOATS, is_required, status);

    if (found != nullptr && HasLength(pb, name, found->floats_size(), length, status)) {
        values->clear();
        for (int i = 0; i < found->floats_size(); i++) {
            values->push_back(found->floats(i));
        }
    }
}
