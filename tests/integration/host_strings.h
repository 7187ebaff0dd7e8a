// Calls of the C library's functions for strings, each with a text in shared memory, "abc" or "0x1"
// or so; by pointers, so that no compiler makes the call itself.
#pragma once

#include "host_memory.h"
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <strings.h>

template <typename F> static F *hide(F *function)
{
    asm volatile("" : "+r"(function));
    return function;
}

struct string_call {
    const char *name;
    bool (*make)(char *t, char *o); // o: the same text in other memory; whether the result is right
};

static const string_call reading[] = {
    {"strlen",
     [](char *t, char *o) {
         auto f = hide<size_t(const char *)>(strlen);
         return (void)o, bool(f(t) == 3);
     }},
    {"strnlen",
     [](char *t, char *o) {
         auto f = hide<size_t(const char *, size_t)>(strnlen);
         return (void)o, bool(f(t, 9) == 3);
     }},
    {"strchr",
     [](char *t, char *o) {
         auto f = hide<char *(char *, int)>(strchr);
         return (void)o, bool(!f(t, 'x'));
     }},
    {"strchrnul",
     [](char *t, char *o) {
         auto f = hide<char *(char *, int)>(strchrnul);
         return (void)o, bool(f(t, 'x') == t + 3);
     }},
    {"strrchr",
     [](char *t, char *o) {
         auto f = hide<char *(char *, int)>(strrchr);
         return (void)o, bool(f(t, 'a') == t);
     }},
    {"index",
     [](char *t, char *o) {
         auto f = hide<char *(char *, int)>(index);
         return (void)o, bool(!f(t, 'x'));
     }},
    {"rindex",
     [](char *t, char *o) {
         auto f = hide<char *(char *, int)>(rindex);
         return (void)o, bool(f(t, 'a') == t);
     }},
    {"memchr",
     [](char *t, char *o) {
         auto f = hide<void *(void *, int, size_t)>(memchr);
         return (void)o, bool(f(t, 0, 60) == t + 3);
     }},
    {"rawmemchr",
     [](char *t, char *o) {
         auto f = hide<void *(void *, int)>(rawmemchr);
         return (void)o, bool(f(t, 0) == t + 3);
     }},
    {"memrchr",
     [](char *t, char *o) {
         auto f = hide<void *(void *, int, size_t)>(memrchr);
         return (void)o, bool(f(t, 'b', 4) == t + 1);
     }},
    {"strcmp",
     [](char *t, char *o) {
         auto f = hide<int(const char *, const char *)>(strcmp);
         return (void)o, bool(f(t, o) == 0);
     }},
    {"strncmp",
     [](char *t, char *o) {
         auto f = hide<int(const char *, const char *, size_t)>(strncmp);
         return (void)o, bool(f(o, t, 60) == 0);
     }},
    {"strcasecmp",
     [](char *t, char *o) {
         auto f = hide<int(const char *, const char *)>(strcasecmp);
         return (void)o, bool(f(t, "ABC") == 0);
     }},
    {"strncasecmp",
     [](char *t, char *o) {
         auto f = hide<int(const char *, const char *, size_t)>(strncasecmp);
         return (void)o, bool(f(t, "ABC", 60) == 0);
     }},
    {"strcoll",
     [](char *t, char *o) {
         auto f = hide<int(const char *, const char *)>(strcoll);
         return (void)o, bool(f(t, o) == 0);
     }},
    {"strstr",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(strstr);
         return (void)o, bool(!f(t, "bb"));
     }},
    {"strcasestr",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(strcasestr);
         return (void)o, bool(!f(t, "BB"));
     }},
    {"memmem",
     [](char *t, char *o) {
         auto f = hide<void *(const void *, size_t, const void *, size_t)>(memmem);
         return (void)o, bool(f(t, 4, "c", 2) == t + 2);
     }},
    {"strspn",
     [](char *t, char *o) {
         auto f = hide<size_t(const char *, const char *)>(strspn);
         return (void)o, bool(f(t, "cab") == 3);
     }},
    {"strcspn",
     [](char *t, char *o) {
         auto f = hide<size_t(const char *, const char *)>(strcspn);
         return (void)o, bool(f(o, t) == 0 && f(t, "x") == 3);
     }},
    {"strpbrk",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(strpbrk);
         return (void)o, bool(!f(t, "xyz"));
     }},
    {"strdup",
     [](char *t, char *o) {
         auto f = hide<char *(const char *)>(strdup);
         return (void)o, bool(f(t));
     }},
    {"strndup",
     [](char *t, char *o) {
         auto f = hide<char *(const char *, size_t)>(strndup);
         return (void)o, bool(f(t, 60));
     }},
    {"strtol",
     [](char *t, char *o) {
         auto f = hide<long(const char *, char **, int)>(strtol);
         return (void)o, bool(f(t, nullptr, 16) == 0xabc);
     }},
    {"strtoul",
     [](char *t, char *o) {
         auto f = hide<unsigned long(const char *, char **, int)>(strtoul);
         return (void)o, bool(f(t, nullptr, 16) == 0xabc);
     }},
    {"strtoll",
     [](char *t, char *o) {
         auto f = hide<long long(const char *, char **, int)>(strtoll);
         return (void)o, bool(f(t, nullptr, 16) == 0xabc);
     }},
    {"strtoull",
     [](char *t, char *o) {
         auto f = hide<unsigned long long(const char *, char **, int)>(strtoull);
         return (void)o, bool(f(t, nullptr, 16) == 0xabc);
     }},
    {"strcpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(strcpy);
         return (void)o, bool(f(o, t) == o);
     }},
    {"stpcpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(stpcpy);
         return (void)o, bool(f(o, t) == o + 3);
     }},
    {"strncpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *, size_t)>(strncpy);
         return (void)o, bool(f(o, t, 4) == o);
     }},
    {"stpncpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *, size_t)>(stpncpy);
         return (void)o, bool(f(o, t, 4) == o + 3);
     }},
    {"strcat",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(strcat);
         return (void)o, bool(f(o, t) == o);
     }},
    {"strncat",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *, size_t)>(strncat);
         return (void)o, bool(f(o, t, 60) == o);
     }},
};

static const string_call writing[] = {
    {"strcpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(strcpy);
         return (void)o, bool(f(t, o) == t);
     }},
    {"stpcpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(stpcpy);
         return (void)o, bool(f(t, o) == t + 3);
     }},
    {"strncpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *, size_t)>(strncpy);
         return (void)o, bool(f(t, o, 4) == t);
     }},
    {"stpncpy",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *, size_t)>(stpncpy);
         return (void)o, bool(f(t, o, 4) == t + 3);
     }},
    {"strcat",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *)>(strcat);
         return (void)o, bool(f(t, "") == t);
     }},
    {"strncat",
     [](char *t, char *o) {
         auto f = hide<char *(char *, const char *, size_t)>(strncat);
         return (void)o, bool(f(t, "", 9) == t);
     }},
};

// Of a number, the end of which is looked at.
static const string_call numbers[] = {
    {"atoi", [](char *t, char *) { return hide<int(const char *)>(atoi)(t) == 12; }},
    {"atol", [](char *t, char *) { return hide<long(const char *)>(atol)(t) == 12; }},
    {"atoll", [](char *t, char *) { return hide<long long(const char *)>(atoll)(t) == 12; }},
    {"atof", [](char *t, char *) { return hide<double(const char *)>(atof)(t) == 12; }},
    {"strtod",
     [](char *t, char *) { return hide<double(const char *, char **)>(strtod)(t, nullptr) == 12; }},
    {"strtof",
     [](char *t, char *) { return hide<float(const char *, char **)>(strtof)(t, nullptr) == 12; }},
};

static const string_call wide[] = {
    {"wcslen",
     [](char *t, char *) { return hide<size_t(const wchar_t *)>(wcslen)((wchar_t *)t) == 3; }},
    {"wcsnlen",
     [](char *t, char *) {
         return hide<size_t(const wchar_t *, size_t)>(wcsnlen)((wchar_t *)t, 9) == 3;
     }},
    {"wcschr",
     [](char *t, char *) {
         return !hide<wchar_t *(wchar_t *, wchar_t)>(wcschr)((wchar_t *)t, L'x');
     }},
    {"wcsrchr",
     [](char *t, char *) {
         return !hide<wchar_t *(wchar_t *, wchar_t)>(wcsrchr)((wchar_t *)t, L'x');
     }},
    {"wcscmp",
     [](char *t, char *o) {
         return hide<int(const wchar_t *, const wchar_t *)>(wcscmp)((wchar_t *)t, (wchar_t *)o) ==
                0;
     }},
    {"wcsncmp",
     [](char *t, char *o) {
         return hide<int(const wchar_t *, const wchar_t *, size_t)>(wcsncmp)((wchar_t *)t,
                                                                             (wchar_t *)o, 9) == 0;
     }},
    {"wcscpy",
     [](char *t, char *o) {
         return hide<wchar_t *(wchar_t *, const wchar_t *)>(wcscpy)((wchar_t *)o, (wchar_t *)t) ==
                (wchar_t *)o;
     }},
};

static void right(const string_call &call, char *t, char *o)
{
    if (!call.make(t, o)) {
        fprintf(stderr, "%s: wrong\n", call.name);
        exit(102);
    }
}
