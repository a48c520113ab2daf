/* Files that are saved and loaded when something goes wrong: a full disk, links, a process that is killed, a
 * file that is replaced while others have it mapped, a callback that cancels, a cap. Whatever happens, the
 * old file or the new one is whole. */
#include "device_memory.h"
#include "saved_files.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { N = 1 << 20, OTHER_N = 700001, CHILDREN = 8, ROUNDS = 40 };

static kr_device *device;
static uint32_t keys[N], other_keys[OTHER_N];
static kr_index *index_, *other;
static const kr_column probes = {.type = KR_U32, .count = ASKED, .data = keys};
static char folder[64], path[96];

static kr_index *make(kr_device *on, const uint32_t *from, uint64_t n)
{
    const kr_column column = {.type = KR_U32, .count = n, .data = from};
    kr_index *made = NULL;
    WORKS(kr_index_create(on, "array", &column, NULL, NULL, &made, &err));
    return made;
}

/* The answers of the index in a file; 0 and an error printed if there is none. */
static uint64_t answers_in(kr_device *on, const char *file)
{
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    WORKS(kr_saved_open(file, NULL, &saved, &err));
    if (saved)
        WORKS(kr_index_load(on, saved, NULL, &loaded, &err));
    const uint64_t answers = loaded ? answers_of(loaded, &probes, &probes) : 0;
    kr_index_destroy(loaded);
    kr_saved_close(saved);
    return answers;
}

/* Files of the folder, which is then as it was if there is only the one. */
static int count_files(void)
{
    char command[160], text[32] = "";
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *pipe = popen(command, "r");
    CHECK(pipe && fgets(text, sizeof text, pipe));
    if (pipe)
        pclose(pipe);
    return atoi(text);
}

/* ---- Cancelled ---------------------------------------------------------------------------------- */

static int calls, cancel_at;

static int cancel(void *ctx, const char *phase, double fraction)
{
    (void)ctx;
    CHECK(phase && fraction >= 0 && fraction <= 1);
    return ++calls == cancel_at;
}

static const kr_progress cancelling = {.call = cancel};

static void check_cancelled_save(void)
{
    kr_status status = KR_ERR_CANCELLED;
    WORKS(kr_index_save(other, path, NULL, NULL, &err));
    const bytes before = read_bytes(path);
    for (cancel_at = 1; status == KR_ERR_CANCELLED && cancel_at < 1000; ++cancel_at) {
        kr_error err = {0};
        calls = 0;
        status = kr_index_save(index_, path, NULL, &cancelling, &err);
        const bytes after = read_bytes(path);
        if (status == KR_ERR_CANCELLED) {
            CHECK(err.text[0] && calls == cancel_at);
            CHECK(after.n == before.n && memcmp(after.data, before.data, after.n) == 0);
            CHECK(count_files() == 1);
        }
        free(after.data);
    }
    CHECK(status == KR_OK && cancel_at > 5);
    CHECK(answers_in(device, path) == answers_of(index_, &probes, &probes));
    free(before.data);
}

static kr_status load_and_drop(const bytes *from, kr_error *err)
{
    const kr_saved_options options = {.struct_size = sizeof options, .progress = &cancelling};
    kr_saved *saved = NULL;
    kr_index *loaded = NULL;
    kr_status status = from ? kr_saved_open_memory(from->data, from->n, &options, &saved, err)
                            : kr_saved_open(path, &options, &saved, err);
    if (status == KR_OK)
        status = kr_saved_check(saved, err);
    if (status == KR_OK)
        status = kr_index_load(device, saved, NULL, &loaded, err);
    kr_index_destroy(loaded);
    kr_saved_close(saved);
    return status;
}

static void check_cancelled_load(const bytes *from)
{
    kr_status status = KR_ERR_CANCELLED;
    const uint64_t before = in_use(device);
    for (cancel_at = 1; status == KR_ERR_CANCELLED && cancel_at < 1000; ++cancel_at) {
        kr_error err = {0};
        calls = 0;
        status = load_and_drop(from, &err);
        CHECK(status == KR_OK || (status == KR_ERR_CANCELLED && err.text[0]));
        CHECK(in_use(device) == before);
    }
    CHECK(status == KR_OK && cancel_at > 3);
    cancel_at = 0;
}

/* ---- Refused by the system ---------------------------------------------------------------------- */

/* As on a full disk: the system takes some bytes, and no more. */
static void check_full_disk(void)
{
    struct rlimit old;
    WORKS(kr_index_save(other, path, NULL, NULL, &err));
    const bytes before = read_bytes(path);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    for (rlim_t size = 0; size < 8 << 20; size += size < 8192 ? 1000 : 1 << 20) {
        const struct rlimit small = {size, old.rlim_max};
        CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
        kr_error err = {0};
        const kr_status status = kr_index_save(index_, path, NULL, NULL, &err);
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
        CHECK(status == KR_ERR_IO && err.vendor_code == EFBIG && strstr(err.text, path));
        CHECK(count_files() == 1);
    }
    signal(SIGXFSZ, handler);
    const bytes after = read_bytes(path);
    CHECK(after.n == before.n && memcmp(after.data, before.data, after.n) == 0);
    free(after.data);
    free(before.data);
    REFUSED(KR_ERR_IO, kr_index_save(index_, "/dev/full", NULL, NULL, &err));
    REFUSED(KR_ERR_IO, kr_index_save(index_, folder, NULL, NULL, &err));
}

static void check_links(void)
{
    char link[160], missing[160];
    struct stat is;
    snprintf(link, sizeof link, "%s.link", path);
    snprintf(missing, sizeof missing, "%s.other", path);
    WORKS(kr_index_save(other, path, NULL, NULL, &err));
    CHECK(symlink("saved.krx", link) == 0);
    WORKS(kr_index_save(index_, link, NULL, NULL, &err)); /* the file behind it is replaced */
    CHECK(lstat(link, &is) == 0 && S_ISLNK(is.st_mode));
    CHECK(answers_in(device, path) == answers_of(index_, &probes, &probes));
    CHECK(answers_in(device, link) == answers_of(index_, &probes, &probes));
    CHECK(remove(link) == 0 && symlink("saved.krx.other", link) == 0);
    WORKS(kr_index_save(other, link, NULL, NULL, &err)); /* or made */
    CHECK(answers_in(device, missing) == answers_of(other, &probes, &probes));
    CHECK(remove(link) == 0 && remove(missing) == 0 && count_files() == 1);
}

/* Two names of one file: the one that is saved gets a new file, the other keeps the old. */
static void check_hard_link(void)
{
    char second[160];
    snprintf(second, sizeof second, "%s.second", path);
    WORKS(kr_index_save(other, path, NULL, NULL, &err));
    CHECK(link(path, second) == 0);
    WORKS(kr_index_save(index_, path, NULL, NULL, &err));
    CHECK(answers_in(device, path) == answers_of(index_, &probes, &probes));
    CHECK(answers_in(device, second) == answers_of(other, &probes, &probes));
    CHECK(remove(second) == 0);
}

static void check_pipe(void)
{
    char pipe[160];
    kr_saved *saved = NULL;
    snprintf(pipe, sizeof pipe, "%s.pipe", path);
    CHECK(mkfifo(pipe, 0666) == 0);
    REFUSED(KR_ERR_IO, kr_saved_open(pipe, NULL, &saved, &err));
    REFUSED(KR_ERR_IO, kr_index_save(index_, pipe, NULL, NULL, &err));
    CHECK(!saved && remove(pipe) == 0);
}

static int die(void *ctx, const char *phase, double fraction)
{
    (void)ctx, (void)phase, (void)fraction;
    if (++calls == cancel_at)
        raise(SIGKILL);
    return 0;
}

/* A child that is killed while it saves. */
static void check_killed(void)
{
    const kr_progress dying = {.call = die};
    WORKS(kr_index_save(other, path, NULL, NULL, &err));
    const bytes before = read_bytes(path);
    int is_dead = 1;
    for (cancel_at = 1; is_dead && cancel_at < 1000; cancel_at += 3) {
        int how = 0;
        const pid_t child = fork();
        if (child == 0) {
            kr_device *own = NULL;
            calls = 0;
            if (kr_device_open("cpu", NULL, &own, NULL) != KR_OK)
                _exit(1);
            _exit(kr_index_save(make(own, keys, N), path, NULL, &dying, NULL) != KR_OK);
        }
        CHECK(child > 0 && waitpid(child, &how, 0) == child);
        is_dead = WIFSIGNALED(how);
        CHECK(is_dead ? WTERMSIG(how) == SIGKILL : WIFEXITED(how) && WEXITSTATUS(how) == 0);
        const bytes after = read_bytes(path);
        if (is_dead)
            CHECK(after.n == before.n && memcmp(after.data, before.data, after.n) == 0);
        free(after.data);
    }
    CHECK(!is_dead && cancel_at > 6);
    CHECK(answers_in(device, path) == answers_of(index_, &probes, &probes));
    free(before.data);
    char command[160];
    snprintf(command, sizeof command, "find '%s' -type f ! -name saved.krx -delete", folder);
    CHECK(system(command) == 0 && count_files() == 1);
}

/* ---- Replaced while it is mapped ---------------------------------------------------------------- */

static void check_over_itself(void)
{
    kr_saved *saved = NULL;
    kr_index *mapped = NULL;
    WORKS(kr_index_save(index_, path, NULL, NULL, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_index_load(device, saved, NULL, &mapped, &err));
    const uint64_t answers = answers_of(mapped, &probes, &probes);
    WORKS(kr_index_save(mapped, path, NULL, NULL, &err));
    CHECK(answers_in(device, path) == answers);
    WORKS(kr_index_save(other, path, NULL, NULL, &err));
    CHECK(answers_of(mapped, &probes, &probes) == answers);
    WORKS(kr_saved_check(saved, &err));
    WORKS(kr_index_validate(mapped, &err));
    kr_saved_close(saved);
    CHECK(answers_of(mapped, &probes, &probes) == answers);
    CHECK(answers_in(device, path) == answers_of(other, &probes, &probes));
    kr_index_destroy(mapped);
}

/* 0: every time that it was opened the file held one of the two indexes. */
static int read_while_replaced(const uint64_t allowed[2])
{
    kr_device *own = NULL;
    const kr_device_options options = {.struct_size = sizeof options, .threads = 1};
    if (kr_device_open("cpu", &options, &own, NULL) != KR_OK)
        return 1;
    for (int i = 0; i < ROUNDS; ++i) {
        const uint64_t answers = answers_in(own, path);
        if (answers != allowed[0] && answers != allowed[1])
            return 1;
    }
    kr_device_close(own);
    return failures != 0;
}

static void check_replaced(void)
{
    const uint64_t allowed[2] = {answers_of(index_, &probes, &probes), answers_of(other, &probes, &probes)};
    pid_t children[CHILDREN];
    int how = 0, left = CHILDREN;
    CHECK(allowed[0] != allowed[1]);
    WORKS(kr_index_save(other, path, NULL, NULL, &err));
    for (int i = 0; i < CHILDREN; ++i) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0)
            _exit(read_while_replaced(allowed));
    }
    for (int turn = 0; left > 0; ++turn) {
        WORKS(kr_index_save(turn % 2 ? other : index_, path, NULL, NULL, &err));
        while (left > 0 && waitpid(-1, &how, WNOHANG) > 0) {
            CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
            --left;
        }
    }
}

/* ---- Under a cap -------------------------------------------------------------------------------- */

/* A mapped index is larger than the cap, and stays as it is where the cap does not allow a change. */
static void check_cap(void)
{
    const kr_device_options options = {.struct_size = sizeof options, .memory_cap_nbytes = 4 << 20};
    const kr_column inserts = {.type = KR_U32, .count = 1, .data = keys};
    kr_device *small = NULL;
    kr_saved *saved = NULL;
    kr_index *mapped = NULL, *copied = NULL;
    WORKS(kr_index_save(index_, path, NULL, NULL, &err));
    const bytes file = read_bytes(path);
    WORKS(kr_device_open("cpu", &options, &small, &err));
    WORKS(kr_saved_open(path, NULL, &saved, &err));
    WORKS(kr_index_load(small, saved, NULL, &mapped, &err));
    kr_saved_close(saved);
    const uint64_t answers = answers_of(mapped, &probes, &probes);
    CHECK(answers == answers_of(index_, &probes, &probes));
    for (int i = 0; i < 2; ++i) {
        REFUSED(KR_ERR_DEVICE_MEMORY, kr_index_update(mapped, &inserts, NULL, NULL, NULL, &err));
        CHECK(answers_of(mapped, &probes, &probes) == answers);
        WORKS(kr_index_save(mapped, path, NULL, NULL, &err));
        CHECK(answers_in(device, path) == answers);
        const bytes again = read_bytes(path); /* also what it knows of its keys */
        CHECK(again.n == file.n && memcmp(again.data, file.data, file.n) == 0);
        free(again.data);
    }
    WORKS(kr_saved_open_memory(file.data, file.n, NULL, &saved, &err));
    REFUSED(KR_ERR_DEVICE_MEMORY, kr_index_load(small, saved, NULL, &copied, &err));
    kr_saved_close(saved);
    kr_index_destroy(mapped);
    kr_device_close(small);
    free(file.data);
}

int main(void)
{
    for (uint32_t i = 0; i < N; ++i)
        keys[i] = i * 2654435761u;
    for (uint32_t i = 0; i < OTHER_N; ++i)
        other_keys[i] = i * 7;
    snprintf(folder, sizeof folder, "saved-faults-%ld", (long)getpid());
    snprintf(path, sizeof path, "%s/saved.krx", folder);
    CHECK(mkdir(folder, 0777) == 0);
    WORKS(kr_device_open("cpu", NULL, &device, &err));
    index_ = make(device, keys, N);
    other = make(device, other_keys, OTHER_N);
    if (failures)
        return 1;
    check_cancelled_save();
    check_cancelled_load(NULL);
    const bytes file = read_bytes(path);
    check_cancelled_load(&file);
    free(file.data);
    check_full_disk();
    check_links();
    check_hard_link();
    check_pipe();
    check_over_itself();
    check_killed();
    check_replaced();
    check_cap();
    kr_index_destroy(other);
    kr_index_destroy(index_);
    CHECK(in_use(device) == 0);
    kr_device_close(device);
    CHECK(remove(path) == 0 && rmdir(folder) == 0);
    return failures != 0;
}
