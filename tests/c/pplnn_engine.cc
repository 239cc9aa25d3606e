/*
 * Takes an operator through ppl.nn's stages, on our declarations of ppl.nn: parse, Init, Select...,
 * CreateKernelImpl, Execute. What to do comes in on stdin, line by line; what happens goes out on
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

static uint32_t dimension_count(const TensorShape &shape)
{
    return shape.GetDimCount();
}

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

    printf("%s %u %u %u", what, shape.GetDataType(), shape.GetDataFormat(), dimension_count(shape));
    for (uint32_t i = 0; i < dimension_count(shape); i++) {
        printf(" %lld", static_cast<long long>(shape.GetDim(i)));
    }
    printf(" :");
    for (uint64_t i = 0; bytes != nullptr && i < shape.CalcBytesIncludingPadding(); i++) {
        printf("%02x", bytes[i]);
    }
    printf("\n");
}

/* What an engine does between the selection and the kernel; fp32 to fp16 is all it has to here. */
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

struct Job {
    ::onnx::NodeProto proto;
    std::vector<std::unique_ptr<TensorImpl>> tensors;
    KernelExecContext context;
    ppl::common::datatype_t precision = ppl::common::DATATYPE_UNKNOWN;
};

static void read_attribute(std::istringstream &line, const std::string &kind, Job *job)
{
    std::string name, word;
    line >> name;
    ::onnx::AttributeProto *attribute = job->proto.add_attribute();
    attribute->set_name(name);
    static const std::map<std::string, ::onnx::AttributeProto::AttributeType> TYPES = {
        {"float", ::onnx::AttributeProto::FLOAT},   {"int", ::onnx::AttributeProto::INT},
        {"string", ::onnx::AttributeProto::STRING}, {"floats", ::onnx::AttributeProto::FLOATS},
        {"ints", ::onnx::AttributeProto::INTS},
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
    job->tensors.emplace_back(new TensorImpl(name));
    TensorImpl *tensor = job->tensors.back().get();
    std::vector<int64_t> dims(rank);
    for (int64_t &dim : dims) {
        line >> dim;
    }
    line >> data;
    tensor->GetShape()->SetDataType(type);
    tensor->GetShape()->SetDataFormat(format);
    if (rank > 0) {
        tensor->GetShape()->Reshape(dims);
    } else {
        tensor->GetShape()->ReshapeAsScalar();
    }
    if (is_input) {
        const std::string bytes = from_hex(data);
        tensor->ReallocBuffer();
        memcpy(tensor->GetBufferPtr<char>(), bytes.data(), bytes.size());
    }
    (is_input ? job->context.inputs : job->context.outputs).push_back(tensor);
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
            job->context.inputs.push_back(nullptr);
        } else {
            read_attribute(line, what, job);
        }
    }
}

/* Init, Select... and the kernel of one engine. `select` is what only some engines have. */
template <typename Op, typename Options, typename Select>
static RetCode run(Job *job, const ir::Node &node, ir::GraphData *data, Select select)
{
    Op op(&node);
    const Options options = {data};
    RetCode status = op.Init(options);
    printf("init %u\n", status);
    if (status != ppl::common::RC_SUCCESS) {
        return status;
    }
    std::vector<ppl::common::dataformat_t> formats[2];
    std::vector<ppl::common::datatype_t> types[2];
    const std::vector<TensorImpl *> *const tensors[2] = {&job->context.inputs,
                                                         &job->context.outputs};
    for (int side = 0; side < 2; side++) {
        for (const TensorImpl *tensor : *tensors[side]) {
            formats[side].push_back(tensor == nullptr ? 0 : tensor->GetShape()->GetDataFormat());
            types[side].push_back(tensor == nullptr ? 0 : tensor->GetShape()->GetDataType());
        }
    }
    op.SelectFormat(job->context, &formats[0], &formats[1]);
    select(&op, types);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < tensors[side]->size(); i++) {
            printf("%s %u %u\n", side == 0 ? "selects" : "selects-output", formats[side][i],
                   types[side][i]);
            if (TensorImpl *tensor = (*tensors[side])[i]) {
                tensor->GetShape()->SetDataFormat(formats[side][i]);
                if (side == 0) {
                    convert(tensor, types[side][i]);
                }
            }
        }
    }
    std::unique_ptr<KernelImpl> kernel(op.CreateKernelImpl());
    status = kernel->Execute(&job->context);
    printf("execute %u\n", status);
    return status;
}

int main(int count, char **arguments)
{
    Job job;
    ir::Node node("node");
    ir::GraphData data;

    job.proto.set_name("node");
    read_job(&job);
#ifdef PARAM
    const ppl::nn::onnx::ParamParserExtraArgs extra = {nullptr, nullptr, nullptr, &data};
    auto param = std::make_shared<PARAM>();
    const RetCode parsed = PARSE(job.proto, extra, &node, param.get());
    printf("parse %u\n", parsed);
    if (parsed != ppl::common::RC_SUCCESS) {
        return 0;
    }
    data.attrs[&node] = param;
    ::onnx::NodeProto packed;
    PARAM again;
    packed.set_name("packed");
    PACK(&node, param.get(), &packed);
    const RetCode parsed_again = PARSE(packed, extra, &node, &again);
    printf("pack %u %d\n", parsed_again, again.Equals(param.get()));
#endif
    const bool is_riscv = count > 1 && std::string(arguments[1]) == "riscv";
    RetCode status;
    if (is_riscv) {
        status = run<RISCV_OP, riscv::OptKernelOptions>(
            &job, node, &data, [&](RISCV_OP *op, std::vector<ppl::common::datatype_t> *types) {
                op->SelectDataType(job.context, job.precision, &types[0], &types[1]);
            });
    } else {
        status = run<X86_OP, x86::OptKernelOptions>(
            &job, node, &data, [](X86_OP *, std::vector<ppl::common::datatype_t> *) {});
    }
    for (const TensorImpl *tensor : job.context.outputs) {
        if (status == ppl::common::RC_SUCCESS) {
            print_tensor("result", *tensor);
        }
    }
    return 0;
}
