#ifndef PPL_COMMON_LOG_H
#define PPL_COMMON_LOG_H

#include <stdio.h>
#include <string>
#include <type_traits>

#include "ppl/common/retcode.h"

#define LOG(level) \
    ::ppl::common::LogMessage(::ppl::common::LOG_LEVEL_##level, nullptr, __FILE__, __LINE__)

namespace ppl { namespace common {

enum {
    LOG_LEVEL_DEBUG = 0,
    LOG_LEVEL_INFO = 1,
    LOG_LEVEL_WARNING = 2,
    LOG_LEVEL_ERROR = 3,
    LOG_LEVEL_FATAL = 4
};

class Logger;

/* Writes a line to stderr. */
class LogMessage final {
public:
    LogMessage(uint32_t level, Logger *, const char *, uint32_t)
    {
        static const char *const LEVELS[] = {"DEBUG", "INFO", "WARNING", "ERROR", "FATAL"};
        content_ = std::string(LEVELS[level]) + ": ";
    }
    ~LogMessage()
    {
        fprintf(stderr, "%s\n", content_.c_str());
    }
    /* Rejects enums and classes at compile time. */
    template <typename T>
    LogMessage &operator<<(const T &value)
    {
        static_assert(std::is_floating_point<T>::value || std::is_integral<T>::value,
                      "only numbers, texts and pointers can be logged");
        content_ += std::to_string(value);
        return *this;
    }
    LogMessage &operator<<(const char *text)
    {
        content_ += text;
        return *this;
    }
    LogMessage &operator<<(const std::string &text)
    {
        content_ += text;
        return *this;
    }

private:
    std::string content_;
};

}} // namespace ppl::common

#endif
