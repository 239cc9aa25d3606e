/* Reports a value that op.yml does not allow. */
template <typename T>
RetCode Refuse(const ::onnx::NodeProto &pb, const char *name, const T &value, const char *expected)
{
    LOG(ERROR) << "attribute[" << name << "] of node[" << pb.name() << "] is [" << value
               << "], expected [" << expected << "]";
    return RC_INVALID_VALUE;
}
