/* An export of Nsight Systems as an SQLite database (Nsight Systems documentation, "SQLite Schema
 * Reference"). Times are nanoseconds since the session began, which TARGET_INFO_SESSION_START_TIME
 * has in nanoseconds since 1970. Tables that the session has no rows for are not there.
 *
 * The system's SQLite reads it. It is opened when it is needed: csan needs it for nothing else. */
#include "csan/base/json_text.h"
#include "runtime/cli/timeline/other_trace.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

enum { SQLITE_OK = 0, SQLITE_ROW = 100, SQLITE_DONE = 101, SQLITE_OPEN_READONLY = 1 };

/* The functions of sqlite3.h that are used. */
struct sqlite {
    void *library;
    int (*open)(const char *, sqlite3 **, int, const char *);
    int (*close)(sqlite3 *);
    int (*prepare)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
    int (*step)(sqlite3_stmt *);
    int (*finalize)(sqlite3_stmt *);
    long long (*integer)(sqlite3_stmt *, int);
    const unsigned char *(*string)(sqlite3_stmt *, int);
    sqlite3 *database;
};

/* Columns of every query: start, end, process, thread, name, category. A device is a process for
 * viewers, and its streams are threads. Process and thread of the host are in globalTid
 * ("Serialized process and thread identifiers"). */
#define HOST_IDS  "globalTid / 16777216 % 16777216, globalTid % 16777216"
#define NAMED(id) "(SELECT value FROM StringIds WHERE StringIds.id = " id ")"

enum { DEVICE_PROCESSES = 2000000000 };

static const struct {
    const char *table, *query;
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "SELECT start, end, 2000000000 + deviceId, streamId, " NAMED(
         "demangledName") ", 'kernel' FROM "
                          "CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "SELECT start, end, 2000000000 + deviceId, streamId, 'copy of ' "
                                   "|| bytes || ' bytes', 'copy' FROM "
                                   "CUPTI_ACTIVITY_KIND_MEMCPY ORDER BY start"},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "SELECT start, end, 2000000000 + deviceId, streamId, 'set of ' "
                                   "|| bytes || ' bytes', 'set' FROM "
                                   "CUPTI_ACTIVITY_KIND_MEMSET ORDER BY start"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "SELECT start, end, " HOST_IDS ", " NAMED(
                                        "nameId") ", 'call' FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                                                  "ORDER BY start"},
    {"NVTX_EVENTS",
     "SELECT start, end, " HOST_IDS ", COALESCE(text, " NAMED(
         "textId") "), 'range' FROM NVTX_EVENTS WHERE end IS NOT NULL ORDER BY start"},
};

static bool sqlite_find(struct sqlite *sqlite)
{
    static const char *const names[] = {"libsqlite3.so.0", "libsqlite3.so"};
    for (size_t i = 0; i < 2 && !sqlite->library; i++)
        sqlite->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    const struct {
        void **function;
        const char *name;
    } functions[] = {
        {(void **)&sqlite->open, "sqlite3_open_v2"},
        {(void **)&sqlite->close, "sqlite3_close"},
        {(void **)&sqlite->prepare, "sqlite3_prepare_v2"},
        {(void **)&sqlite->step, "sqlite3_step"},
        {(void **)&sqlite->finalize, "sqlite3_finalize"},
        {(void **)&sqlite->integer, "sqlite3_column_int64"},
        {(void **)&sqlite->string, "sqlite3_column_text"},
    };
    for (size_t i = 0; sqlite->library && i < sizeof functions / sizeof *functions; i++)
        if (!(*functions[i].function = dlsym(sqlite->library, functions[i].name)))
            return false;
    return sqlite->library != NULL;
}

/* NULL: there is no such table, or not with these columns. */
static sqlite3_stmt *query_begin(const struct sqlite *sqlite, const char *query)
{
    sqlite3_stmt *statement = NULL;
    return sqlite->prepare(sqlite->database, query, -1, &statement, NULL) == SQLITE_OK ? statement
                                                                                       : NULL;
}

/* "12.345", of nanoseconds. */
static void microseconds_add(struct text *text, const char *key, long long nanoseconds)
{
    const unsigned long long magnitude =
        nanoseconds < 0 ? 0 - (unsigned long long)nanoseconds : (unsigned long long)nanoseconds;
    text_add(text, "\"%s\": %s%llu.%03llu, ", key, nanoseconds < 0 ? "-" : "", magnitude / 1000,
             magnitude % 1000);
}

static void row_add(struct other_trace *trace, const struct sqlite *sqlite, sqlite3_stmt *row)
{
    struct text *text = &trace->events;
    const long long start = sqlite->integer(row, 0), end = sqlite->integer(row, 1);
    const char *name = (const char *)sqlite->string(row, 4);
    text_add(text, ",\n  {\"ph\": \"X\", ");
    json_member_number(text, "pid", (uint64_t)sqlite->integer(row, 2));
    json_member_number(text, "tid", (uint64_t)sqlite->integer(row, 3));
    json_member_string(text, "name", name ? name : "?");
    json_member_string(text, "cat", (const char *)sqlite->string(row, 5));
    microseconds_add(text, "ts", start);
    microseconds_add(text, "dur",
                     end > start ? (long long)((unsigned long long)end - (unsigned long long)start)
                                 : 0);
    json_comma_drop(text);
    text_add(text, "}");
    trace->count++;
}

/* False: the database is damaged. */
static bool table_take(struct other_trace *trace, const struct sqlite *sqlite, const char *query)
{
    sqlite3_stmt *rows = query_begin(sqlite, query);
    int status = rows ? SQLITE_ROW : SQLITE_DONE;
    while (status == SQLITE_ROW && (status = sqlite->step(rows)) == SQLITE_ROW)
        row_add(trace, sqlite, rows);
    sqlite->finalize(rows);
    return status == SQLITE_DONE;
}

static void devices_name(struct other_trace *trace, const struct sqlite *sqlite)
{
    sqlite3_stmt *rows =
        query_begin(sqlite, "SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL");
    while (rows && sqlite->step(rows) == SQLITE_ROW) {
        const long long device = sqlite->integer(rows, 0);
        text_add(
            &trace->events,
            ",\n  {\"ph\": \"M\", \"pid\": %lld, \"name\": \"process_name\", \"args\": {\"name\": "
            "\"GPU %lld (Nsight Systems)\"}}",
            (long long)((unsigned long long)DEVICE_PROCESSES + (unsigned long long)device), device);
    }
    sqlite->finalize(rows);
}

static const char *export_take(struct other_trace *trace, const struct sqlite *sqlite)
{
    sqlite3_stmt *start =
        query_begin(sqlite, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
    const bool known = start && sqlite->step(start) == SQLITE_ROW;
    trace->base = known ? (uint64_t)sqlite->integer(start, 0) : 0;
    sqlite->finalize(start);
    if (!known)
        return "it does not say when its session began (TARGET_INFO_SESSION_START_TIME)";
    devices_name(trace, sqlite);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!table_take(trace, sqlite, tables[i].query))
            return "it is damaged";
    return trace->count ? NULL
                        : "it has no kernel, copy, call or range that csan can read; export it "
                          "again with nsys export --type sqlite";
}

bool nsight_export_read(struct other_trace *trace, const char *path, char *message,
                        size_t message_bytes)
{
    struct sqlite sqlite = {0};
    const char *wrong = NULL;
    if (!sqlite_find(&sqlite))
        wrong = "it is an SQLite database, and there is no libsqlite3.so.0 to read it with";
    else if (sqlite.open(path, &sqlite.database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        wrong = "SQLite cannot open it";
    else
        wrong = export_take(trace, &sqlite);
    if (sqlite.database)
        sqlite.close(sqlite.database);
    if (wrong)
        snprintf(message, message_bytes, "%s", wrong);
    return !wrong;
}
