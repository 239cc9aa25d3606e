/*
 * Take an operator through ppl.nn's stages, on opkit's declarations of ppl.nn: parse, Init,
 * Select..., CreateKernelImpl, Execute. Reads commands from stdin, line by line; prints results to
 * stdout. `operator_under_test.h` names the operator's sources and classes.
 */
#include <stdio.h>

#include <iostream>
#include <sstream>

#include "operator_under_test.h"
#include "opkit/compute/half.h"
#include "ppl/nn/models/onnx/param_parser_manager.h"

using namespace ppl::nn;
using ppl::common::RetCode;

static std::string from_hex(const std::string &text)
{
    std::string bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

static void print_tensor(const char *what, const TensorImpl &tensor)
{
    const TensorShape &shape = *tensor.GetShape();
    const auto *bytes = tensor.GetBufferPtr<const unsigned char>();

    printf("%s %u %u %u", what, shape.GetDataType(), shape.GetDataFormat(),
           shape.GetRealDimCount());
    for (uint32_t i = 0; i < shape.GetRealDimCount(); i++) {
        printf(" %lld", static_cast<long long>(shape.GetDim(i)));
    }
    printf(" :");
    for (uint64_t i = 0; bytes != nullptr && i < shape.CalcBytesIncludingPadding(); i++) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

/* Converts a tensor between the selection and the kernel; only fp32 to fp16 is needed here. */
static void convert(TensorImpl *tensor, ppl::common::datatype_t type)
{
    TensorShape *shape = tensor->GetShape();
    if (shape->GetDataType() == type) {
        return;
    }
    const uint64_t count = shape->CalcElementsIncludingPadding();
    const float *floats = tensor->GetBufferPtr<const float>();
    std::vector<uint16_t> halves(count);
    opkit_floats_to_halves(floats, halves.data(), count);
    shape->SetDataType(type);
    tensor->ReallocBuffer();
    memcpy(tensor->GetBufferPtr<char>(), halves.data(), count * sizeof(uint16_t));
}

class NamedEdge final : public ir::Edge {
public:
    explicit NamedEdge(const std::string &name) : name_(name)
    {
    }
    const std::string &GetName() const override
    {
        return name_;
    }

private:
    std::string name_;
};

static const std::string NODE_NAME = "node";

/* A node, and its tensors by the ids of their edges; a missing input has none. */
struct Job {
    ::onnx::NodeProto proto;
    ir::Node node{0, &NODE_NAME};
    std::vector<std::unique_ptr<ir::Edge>> edges;
    std::vector<std::unique_ptr<TensorImpl>> tensors;
    ppl::common::datatype_t precision = ppl::common::DATATYPE_UNKNOWN;
    bool is_loading = false;

    std::vector<TensorImpl *> inputs() const
    {
        std::vector<TensorImpl *> found;
        for (uint32_t i = 0; i < node.GetInputCount(); i++) {
            found.push_back(tensors[node.GetInput(i)].get());
        }
        return found;
    }
    std::vector<TensorImpl *> outputs() const
    {
        std::vector<TensorImpl *> found;
        for (uint32_t i = 0; i < node.GetOutputCount(); i++) {
            found.push_back(tensors[node.GetOutput(i)].get());
        }
        return found;
    }
    void describe(InputOutputInfo *info) const
    {
        info->SetNode(&node);
        info->SetAcquireFunc(
            [this](edgeid_t id, uint32_t) -> EdgeObject * { return tensors[id].get(); });
    }
};

static void read_attribute(std::istringstream &line, const std::string &kind, Job *job)
{
    std::string name, word;
    line >> name;
    ::onnx::AttributeProto *attribute = job->proto.add_attribute();
    attribute->set_name(name);
    static const std::map<std::string, ::onnx::AttributeProto_AttributeType> TYPES = {
        {"float", ::onnx::AttributeProto_AttributeType_FLOAT},
        {"int", ::onnx::AttributeProto_AttributeType_INT},
        {"string", ::onnx::AttributeProto_AttributeType_STRING},
        {"floats", ::onnx::AttributeProto_AttributeType_FLOATS},
        {"ints", ::onnx::AttributeProto_AttributeType_INTS},
    };
    attribute->set_type(TYPES.at(kind));
    while (line >> word) {
        if (kind == "float") {
            attribute->set_f(std::stof(word));
        } else if (kind == "int") {
            attribute->set_i(std::stoll(word));
        } else if (kind == "string") {
            attribute->set_s(from_hex(word));
        } else if (kind == "floats") {
            attribute->add_floats(std::stof(word));
        } else {
            attribute->add_ints(std::stoll(word));
        }
    }
}

static void read_tensor(std::istringstream &line, bool is_input, Job *job)
{
    std::string name, data;
    ppl::common::datatype_t type = 0;
    ppl::common::dataformat_t format = 0;
    uint32_t rank = 0;
    line >> name >> type >> format >> rank;
    job->edges.emplace_back(new NamedEdge(name));
    job->tensors.emplace_back(new TensorImpl(job->edges.back().get(), TENSORTYPE_NORMAL));
    TensorImpl *tensor = job->tensors.back().get();
    std::vector<int64_t> dims(rank);
    for (int64_t &dim : dims) {
        line >> dim;
    }
    line >> data;
    tensor->GetShape()->SetDataType(type);
    tensor->GetShape()->SetDataFormat(format);
    if (rank > 0) {
        tensor->GetShape()->Reshape(dims.data(), rank);
    } else {
        tensor->GetShape()->ReshapeAsScalar();
    }
    const auto id = static_cast<edgeid_t>(job->tensors.size() - 1);
    if (is_input && !data.empty()) {
        const std::string bytes = from_hex(data);
        tensor->ReallocBuffer();
        memcpy(tensor->GetBufferPtr<char>(), bytes.data(), bytes.size());
    }
    if (is_input) {
        job->node.AddInput(id);
    } else {
        job->node.AddOutput(id);
    }
}

static void read_job(Job *job)
{
    std::string text, what;
    while (std::getline(std::cin, text)) {
        std::istringstream line(text);
        line >> what;
        if (what == "precision") {
            line >> job->precision;
        } else if (what == "input" || what == "output") {
            read_tensor(line, what == "input", job);
        } else if (what == "missing") {
            job->tensors.emplace_back(nullptr);
            job->node.AddInput(static_cast<edgeid_t>(job->tensors.size() - 1));
        } else if (what == "loading") {
            job->is_loading = true;
        } else {
            read_attribute(line, what, job);
        }
    }
}

/* Runs Init, Select... and the kernel of one engine. `select`: the stages of only some engines. */
template <typename Op, typename Options, typename Select>
static RetCode run(Job *job, ir::GraphData *data, Select select)
{
    Op op(&job->node);
    Options options;
    options.graph_data = data;
    RetCode status = op.Init(options);
    printf("init %u\n", status);
    if (status != ppl::common::RC_SUCCESS) {
        return status;
    }
    if (job->is_loading) {
        InputOutputInfo info;
        job->describe(&info);
        op.InferType(&info);
        status = op.InferDims(&info);
        printf("load %u\n", status);
        return status;
    }
    KernelExecContext context;
    job->describe(&context);
    std::vector<ppl::common::dataformat_t> formats[2];
    std::vector<ppl::common::datatype_t> types[2];
    const std::vector<TensorImpl *> tensors[2] = {job->inputs(), job->outputs()};
    for (int side = 0; side < 2; side++) {
        for (const TensorImpl *tensor : tensors[side]) {
            formats[side].push_back(tensor == nullptr ? 0 : tensor->GetShape()->GetDataFormat());
            types[side].push_back(tensor == nullptr ? 0 : tensor->GetShape()->GetDataType());
        }
    }
    op.SelectFormat(context, &formats[0], &formats[1]);
    select(&op, context, types);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < tensors[side].size(); i++) {
            printf("%s %u %u\n", side == 0 ? "selects" : "selects-output", formats[side][i],
                   types[side][i]);
            if (side == 1) {
                op.SetOutputDataFormat(i, formats[side][i]);
            } else if (tensors[side][i] != nullptr) {
                tensors[side][i]->GetShape()->SetDataFormat(formats[side][i]);
                convert(tensors[side][i], types[side][i]);
            }
        }
    }
    std::unique_ptr<KernelImpl> kernel(op.CreateKernelImpl());
    status = kernel->Execute(&context);
    printf("execute %u\n", status);
    return status;
}

int main(int count, char **arguments)
{
    Job job;
    ir::GraphData data;

    job.proto.set_name("node");
    read_job(&job);
#ifdef PARAM
    const ppl::nn::onnx::ParamParserExtraArgs extra = {nullptr, nullptr, nullptr, &data};
    auto param = std::make_shared<PARAM>();
    const RetCode parsed = PARSE(job.proto, extra, &job.node, param.get());
    printf("parse %u\n", parsed);
    if (parsed != ppl::common::RC_SUCCESS) {
        return 0;
    }
    data.attrs[job.node.GetId()] = param;
    ::onnx::NodeProto packed;
    PARAM again;
    packed.set_name("packed");
    PACK(&job.node, param.get(), &packed);
    const RetCode parsed_again = PARSE(packed, extra, &job.node, &again);
    printf("pack %u %d\n", parsed_again, again.Equals(param.get()));
#endif
    const bool is_riscv = count > 1 && std::string(arguments[1]) == "riscv";
    RetCode status;
    if (is_riscv) {
        status = run<RISCV_OP, riscv::OptKernelOptions>(
            &job, &data,
            [&](RISCV_OP *op, const InputOutputInfo &info,
                std::vector<ppl::common::datatype_t> *types) {
                op->SelectDataType(info, job.precision, &types[0], &types[1]);
                for (uint32_t i = 0; i < types[1].size(); i++) {
                    op->SetOutputDataType(i, types[1][i]);
                }
            });
    } else {
        status = run<X86_OP, x86::OptKernelOptions>(
            &job, &data,
            [](X86_OP *, const InputOutputInfo &, std::vector<ppl::common::datatype_t> *) {});
    }
    for (const TensorImpl *tensor : job.outputs()) {
        if (status == ppl::common::RC_SUCCESS) {
            print_tensor(job.is_loading ? "inferred" : "result", *tensor);
        }
    }
    return 0;
}
