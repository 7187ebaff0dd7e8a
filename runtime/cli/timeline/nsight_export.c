/* An export of Nsight Systems as an SQLite database (Nsight Systems documentation, "SQLite Schema
 * Reference"). Times are nanoseconds since the session began, which TARGET_INFO_SESSION_START_TIME
 * has in nanoseconds since 1970. Tables that the session has no rows for are not there. One that is
 * there and lacks a column, as in an export of another version, is left out, and that is said. A
 * damaged database is refused.
 *
 * The system's SQLite reads it. It is opened when it is needed: csan needs it for nothing else. */
#include "csan/base/json_text.h"
#include "runtime/cli/timeline/other_trace.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

enum {
    SQLITE_OK = 0,
    SQLITE_ERROR = 1,
    SQLITE_ROW = 100,
    SQLITE_DONE = 101,
    SQLITE_OPEN_READONLY = 1
};

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
    const char *(*message)(sqlite3 *);
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
        {(void **)&sqlite->message, "sqlite3_errmsg"},
    };
    for (size_t i = 0; sqlite->library && i < sizeof functions / sizeof *functions; i++)
        if (!(*functions[i].function = dlsym(sqlite->library, functions[i].name)))
            return false;
    return sqlite->library != NULL;
}

typedef void take_row(void *taker, const struct sqlite *sqlite, sqlite3_stmt *row);

/* Takes each row. SQLITE_DONE, or what is wrong: SQLITE_ERROR where a table or a column is not
 * there.
 */
static int query(const struct sqlite *sqlite, const char *text, take_row *take, void *taker)
{
    sqlite3_stmt *rows = NULL;
    int status = sqlite->prepare(sqlite->database, text, -1, &rows, NULL);
    if (status == SQLITE_OK)
        while ((status = sqlite->step(rows)) == SQLITE_ROW)
            take(taker, sqlite, rows);
    sqlite->finalize(rows);
    return status;
}

/* "12.345", of nanoseconds. */
static void microseconds_add(struct text *text, const char *key, long long nanoseconds)
{
    const unsigned long long magnitude =
        nanoseconds < 0 ? 0 - (unsigned long long)nanoseconds : (unsigned long long)nanoseconds;
    text_add(text, "\"%s\": %s%llu.%03llu, ", key, nanoseconds < 0 ? "-" : "", magnitude / 1000,
             magnitude % 1000);
}

static void row_add(void *taker, const struct sqlite *sqlite, sqlite3_stmt *row)
{
    struct other_trace *trace = taker;
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

static void device_name(void *taker, const struct sqlite *sqlite, sqlite3_stmt *row)
{
    struct other_trace *trace = taker;
    const long long device = sqlite->integer(row, 0);
    text_add(&trace->events,
             ",\n  {\"ph\": \"M\", \"pid\": %lld, \"name\": \"process_name\", \"args\": {\"name\": "
             "\"GPU %lld (Nsight Systems)\"}}",
             (long long)((unsigned long long)DEVICE_PROCESSES + (unsigned long long)device),
             device);
}

static void base_take(void *taker, const struct sqlite *sqlite, sqlite3_stmt *row)
{
    struct other_trace *trace = taker;
    trace->base = (uint64_t)sqlite->integer(row, 0);
}

static void row_see(void *taker, const struct sqlite *sqlite, sqlite3_stmt *row)
{
    (void)sqlite, (void)row;
    *(bool *)taker = true;
}

/* A table that could not be read: says so, unless it is not there. False: the database is damaged.
 */
static bool table_miss(struct other_trace *trace, const struct sqlite *sqlite, const char *table)
{
    char list[160], reason[160];
    bool there = false;
    snprintf(reason, sizeof reason, "%s", sqlite->message(sqlite->database));
    snprintf(list, sizeof list, "SELECT name FROM sqlite_master WHERE name = '%s'", table);
    if (query(sqlite, list, row_see, &there) != SQLITE_DONE)
        return false;
    if (there)
        text_add(&trace->left_out, "its table %s is left out: %s\n", table, reason);
    return true;
}

/* False: the database is damaged. */
static bool table_take(struct other_trace *trace, const struct sqlite *sqlite, const char *table,
                       const char *text)
{
    const int status = query(sqlite, text, row_add, trace);
    return status == SQLITE_DONE || (status == SQLITE_ERROR && table_miss(trace, sqlite, table));
}

static bool tables_take(struct other_trace *trace, const struct sqlite *sqlite)
{
    const int status = query(sqlite, "SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL",
                             device_name, trace);
    bool good = status == SQLITE_DONE || status == SQLITE_ERROR;
    for (size_t i = 0; good && i < sizeof tables / sizeof *tables; i++)
        good = table_take(trace, sqlite, tables[i].table, tables[i].query);
    return good;
}

/* False: `message` says why. */
static bool export_take(struct other_trace *trace, const struct sqlite *sqlite, char *message,
                        size_t message_bytes)
{
    const int status =
        query(sqlite, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", base_take, trace);
    if ((status != SQLITE_DONE && status != SQLITE_ERROR) || !tables_take(trace, sqlite))
        snprintf(message, message_bytes, "SQLite cannot read it: %s",
                 sqlite->message(sqlite->database));
    else if (!trace->base)
        snprintf(message, message_bytes,
                 "it does not say when its session began (TARGET_INFO_SESSION_START_TIME)");
    else if (!trace->count)
        snprintf(message, message_bytes,
                 "it has no kernel, copy, call or range that csan can read; export it again with "
                 "nsys export --type sqlite");
    else
        return true;
    return false;
}

bool nsight_export_read(struct other_trace *trace, const char *path, char *message,
                        size_t message_bytes)
{
    struct sqlite sqlite = {0};
    bool good = false;
    if (!sqlite_find(&sqlite))
        snprintf(message, message_bytes,
                 "it is an SQLite database, and there is no libsqlite3.so.0 to read it with");
    else if (sqlite.open(path, &sqlite.database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        snprintf(message, message_bytes, "SQLite cannot open it");
    else
        good = export_take(trace, &sqlite, message, message_bytes);
    if (sqlite.database)
        sqlite.close(sqlite.database);
    return good;
}
