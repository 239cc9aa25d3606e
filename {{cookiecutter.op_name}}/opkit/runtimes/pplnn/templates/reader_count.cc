/* Refuses a list of another length than op.yml says. */
bool HasCount(const ::onnx::NodeProto &pb, const char *name, int count, int first, int last,
              RetCode *status)
{
    if (count < first || count > last) {
        LOG(ERROR) << "attribute[" << name << "] of node[" << pb.name() << "] has [" << count
                   << "] items, expected " << first << " to " << last;
        *status = RC_INVALID_VALUE;
    }
    return *status == RC_SUCCESS;
}
