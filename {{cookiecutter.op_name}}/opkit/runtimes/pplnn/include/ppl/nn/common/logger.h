#ifndef PPL_NN_COMMON_LOGGER_H
#define PPL_NN_COMMON_LOGGER_H

#include <stdio.h>

#include <string>

/* LOG(ERROR) << ...: a line to stderr. */
#define LOG(level) ::ppl::nn::LogLine(#level)

namespace ppl { namespace nn {

class LogLine final {
public:
    explicit LogLine(const char *level) : text_(level)
    {
        text_ += ": ";
    }
    ~LogLine()
    {
        fprintf(stderr, "%s\n", text_.c_str());
    }
    LogLine &operator<<(const char *text)
    {
        text_ += text;
        return *this;
    }
    LogLine &operator<<(const std::string &text)
    {
        text_ += text;
        return *this;
    }
    template <typename T>
    LogLine &operator<<(T number)
    {
        char digits[32];
        snprintf(digits, sizeof digits, "%lld", static_cast<long long>(number));
        text_ += digits;
        return *this;
    }

private:
    std::string text_;
};

}} // namespace ppl::nn

#endif
