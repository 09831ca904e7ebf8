/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs of all kinds are made at the start, since making one takes milliseconds; a thread
 * only installs the one of its kind. The kernel remembers for each call number whether a filter
 * allows it whatever the arguments are, so such calls cost nearly nothing (Linux 5.11).
 */
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/log.h"

#define NUMBERS_MAX 512
#define NEWEST      451 /* cachestat of Linux 6.5, the first call that no row of the table has */
#define NAME_CAP    32
#define ARENAS      8 /* of malloc, for each processor: the C library's default */
#define TYPE_MASK   0xf

#define SHRINK_BLOCKS 8
#define SHRINK_BYTES  100000 /* below M_MMAP_THRESHOLD; together above M_TRIM_THRESHOLD */

/* Of the process; written by sandbox_start() alone, but for the counters. */
static struct {
	struct sock_fprog programs[SANDBOX_N_KINDS];
	uint32_t refused[SANDBOX_N_KINDS][NUMBERS_MAX]; /* atomic */
	bool is_logged[SANDBOX_N_KINDS][NUMBERS_MAX];
	char problem[192];
	const char *why_not;
	enum sandbox_kind kind; /* of the thread that started it, and of all that do not enter */
	bool is_on;
} sandbox = { .why_not = "" };

static __thread enum sandbox_kind kind_of_thread;

const char *sandbox_kind_text(enum sandbox_kind kind)
{
	static const char *const words[] = {
#define SANDBOX_WORD(id, word) #word,
		SANDBOX_KINDS(SANDBOX_WORD)
#undef SANDBOX_WORD
	};

	return words[kind];
}

/* --- Rules ------------------------------------------------------------------------------------ */

static int add_rule(scmp_filter_ctx ctx, int number, unsigned int n,
		    const struct scmp_arg_cmp *args)
{
	int err = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, number, n, args);

	return err == -EEXIST ? 0 : err;
}

static int add_values(scmp_filter_ctx ctx, int number, const struct sandbox_row *row)
{
	int err = 0;

	for (unsigned int i = 0; i < row->n_values && !err; i++)
		err = add_rule(ctx, number, 1,
			       &SCMP_CMP(row->n_arg, SCMP_CMP_MASKED_EQ, UINT32_MAX,
					 row->values[i]));
	return err;
}

static int add_pairs(scmp_filter_ctx ctx, int number, const struct sandbox_row *row)
{
	int err = 0;

	for (unsigned int i = 0; i < row->n_values && !err; i += 2) {
		const struct scmp_arg_cmp args[] = {
			SCMP_A0(SCMP_CMP_EQ, row->values[i], 0),
			SCMP_A1(SCMP_CMP_MASKED_EQ, TYPE_MASK, row->values[i + 1]),
		};

		err = add_rule(ctx, number, row->values[i + 1] ? 2 : 1, args);
	}
	return err;
}

static int add_call(scmp_filter_ctx ctx, int number, const struct sandbox_row *row)
{
	int err;

	switch (row->when) {
	case SANDBOX_OWN_PROCESS:
		err = add_rule(ctx, number, 1, &SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
		return err ? err : add_rule(ctx, number, 1, &SCMP_A0(SCMP_CMP_EQ, 0, 0));
	case SANDBOX_THREAD:
		return add_rule(ctx, number, 1,
				&SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	case SANDBOX_NO_FLAG:
		return add_rule(ctx, number, 1,
				&SCMP_CMP(row->n_arg, SCMP_CMP_MASKED_EQ, row->values[0], 0));
	case SANDBOX_ONE_OF:
		return add_values(ctx, number, row);
	case SANDBOX_PAIRS:
		return add_pairs(ctx, number, row);
	case SANDBOX_READ_ONLY:
		return add_rule(ctx, number, 1,
				&SCMP_CMP(row->n_arg, SCMP_CMP_MASKED_EQ,
					  O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY));
	default:
		return add_rule(ctx, number, 0, NULL);
	}
}

/* Calls visit() for each call of the row that libseccomp and this architecture know. */
static int each_call(const struct sandbox_row *row,
		     int (*visit)(void *user, int number, const struct sandbox_row *row),
		     void *user)
{
	const char *at = row->names;
	int err = 0;

	while (*at && !err) {
		size_t n = strcspn(at, " ");
		char name[NAME_CAP];
		int number;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		number = seccomp_syscall_resolve_name(name);
		if (number >= 0 && number < NUMBERS_MAX)
			err = visit(user, number, row);
		at += n + strspn(at + n, " ");
	}
	return err;
}

static int visit_call(void *ctx, int number, const struct sandbox_row *row)
{
	return add_call(ctx, number, row);
}

static int mark_known(void *known, int number, const struct sandbox_row *row)
{
	(void)row;
	((bool *)known)[number] = true;
	return 0;
}

/* A call without any row: libraries do without it. */
static int add_unknown(scmp_filter_ctx ctx)
{
	bool known[NUMBERS_MAX] = { false };
	int err = 0;

	for (unsigned int i = 0; i < sandbox_n_rows; i++)
		(void)each_call(&sandbox_rows[i], mark_known, known);
	known[seccomp_syscall_resolve_name("clone3")] = false;
	for (int number = 0; number < NEWEST && !err; number++) {
		char *name = known[number] ?
				     NULL :
				     seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

		if (name)
			err = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), number, 0);
		free(name);
	}
	return err;
}

/* Programs that are executed do not know our handler, so they get the error at once. */
static int refuse_call(void *ctx, int number, const struct sandbox_row *row)
{
	int err = row->n_values ? 0 : seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), number, 0);

	for (unsigned int i = 0; i < row->n_values && !err; i++)
		err = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), number, 1,
				       SCMP_CMP(row->n_arg, SCMP_CMP_MASKED_EQ, row->values[i],
						row->values[i]));
	return err;
}

/* 32-bit programs may be executed, too, where the kernel has them. */
static int make_open_rules(scmp_filter_ctx ctx, enum sandbox_kind kind)
{
	int err = 0;

#ifdef __x86_64__
	err = seccomp_arch_add(ctx, SCMP_ARCH_X86);
#endif
	if (!err)
		err = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS),
				       seccomp_syscall_resolve_name("clone3"), 0);
	for (unsigned int i = 0; i < sandbox_n_rows && !err; i++)
		if (sandbox_rows[i].kinds >> kind & 1)
			err = each_call(&sandbox_rows[i], refuse_call, ctx);
	return err;
}

static int make_sandbox_rules(scmp_filter_ctx ctx, enum sandbox_kind kind)
{
	int err = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);

	if (!err)
		err = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!err && sandbox_is_open(kind))
		return make_open_rules(ctx, kind);
	for (unsigned int i = 0; i < sandbox_n_rows && !err; i++)
		if (sandbox_rows[i].kinds >> kind & 1)
			err = each_call(&sandbox_rows[i], visit_call, ctx);
	return err ? err : add_unknown(ctx);
}

/* --- Programs --------------------------------------------------------------------------------- */

/* Before libseccomp's program: calls that are newer than the table get ENOSYS. */
static void put_newest(struct sock_filter *at)
{
	at[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					     offsetof(struct seccomp_data, nr));
	at[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NEWEST, 0, 2);
	at[2] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 1, 0);
	at[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
}

#define N_BEFORE 4

static int export_program(scmp_filter_ctx ctx, struct sock_fprog *program)
{
	int fd = memory_file_open("seccomp", 0), err = fd < 0 ? fd : 0;
	off_t n = 0;
	ssize_t got = 0;

	if (!err)
		err = seccomp_export_bpf(ctx, fd);
	if (!err)
		n = lseek(fd, 0, SEEK_END);
	if (!err)
		program->filter = malloc((size_t)n + N_BEFORE * sizeof(*program->filter));
	if (!err && program->filter)
		got = pread(fd, program->filter + N_BEFORE, (size_t)n, 0);
	if (!err && got != n)
		err = program->filter ? -EIO : -ENOMEM;
	if (fd >= 0)
		close(fd);
	if (err)
		return err;
	put_newest(program->filter);
	program->len = (unsigned short)((size_t)n / sizeof(*program->filter) + N_BEFORE);
	return 0;
}

static int make_program(enum sandbox_kind kind)
{
	scmp_filter_ctx ctx = seccomp_init(sandbox_is_open(kind) ? SCMP_ACT_ALLOW : SCMP_ACT_TRAP);
	int err = ctx ? make_sandbox_rules(ctx, kind) : -ENOMEM;

	if (!err)
		err = export_program(ctx, &sandbox.programs[kind]);
	if (ctx)
		seccomp_release(ctx);
	return err;
}

/* --- Refused calls ---------------------------------------------------------------------------- */

static void set_result(ucontext_t *context, int value)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = value;
#elif defined(__aarch64__)
	context->uc_mcontext.regs[0] = (unsigned long long)value;
#else
#error "the register of a system call's result on this architecture"
#endif
}

/* A thread that has not entered a kind has that of its process. */
static enum sandbox_kind kind_of_caller(void)
{
	return kind_of_thread ? kind_of_thread : sandbox.kind;
}

static void on_refused_call(int signal, siginfo_t *info, void *context)
{
	unsigned int number = (unsigned int)info->si_syscall;

	(void)signal;
	if (number < NUMBERS_MAX)
		__atomic_fetch_add(&sandbox.refused[kind_of_caller()][number], 1, __ATOMIC_RELAXED);
	set_result(context, -EPERM);
}

static int catch_refused(void)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART };

	action.sa_sigaction = on_refused_call;
	sigemptyset(&action.sa_mask);
	return sigaction(SIGSYS, &action, NULL) ? -errno : 0;
}

/* --- The process ------------------------------------------------------------------------------ */

static int install_program(enum sandbox_kind kind)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &sandbox.programs[kind]) ? -errno :
											   0;
}

static void become_kind(enum sandbox_kind kind)
{
	sigset_t refused;

	sigemptyset(&refused);
	sigaddset(&refused, SIGSYS);
	pthread_sigmask(SIG_UNBLOCK, &refused, NULL);
	kind_of_thread = kind;
}

/* Memory of a thread's own heap, in blocks too small for mmap(), given back. */
static void *shrink_heap(void *unused)
{
	void *volatile blocks[SHRINK_BLOCKS];

	for (int i = 0; i < SHRINK_BLOCKS; i++)
		blocks[i] = malloc(SHRINK_BYTES);
	for (int i = 0; i < SHRINK_BLOCKS; i++)
		free(blocks[i]);
	return unused;
}

/*
 * Otherwise libraries would open files at a time when threads may not any more. When a heap shrinks
 * for the first time, glibc reads how the kernel overcommits memory. At its first use OpenSSL reads
 * openssl.cnf, and loads the providers and engines that it names.
 */
static void prepare_libraries(void)
{
	pthread_t thread;

	mallopt(M_ARENA_MAX, ARENAS * get_nprocs());
	(void)!OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, NULL);
	if (!pthread_create(&thread, NULL, shrink_heap, NULL))
		pthread_join(thread, NULL);
}

int sandbox_start(enum sandbox_kind kind)
{
	int err = 0;

	tzset(); /* else the first line of the log would open a file */
	if (kind < SANDBOX_N_OF_THREADS)
		prepare_libraries();
	for (unsigned int each = 0; each < SANDBOX_N_KINDS && !err; each++)
		if (kind == each || (kind == SANDBOX_CONTROL && each < SANDBOX_N_OF_THREADS))
			err = make_program((enum sandbox_kind)each);
	if (!err)
		err = catch_refused();
	become_kind(kind);
	sandbox.kind = kind;
	if (!err)
		err = install_program(kind);
	if (err == -EINVAL)
		err = -ENOSYS;
	sandbox.is_on = !err;
	sandbox.why_not = err == -ENOSYS ? "the kernel has no filters of system calls (seccomp)" :
			  err            ? err_text(err) :
					   "";
	return err;
}

void sandbox_start_process(enum sandbox_kind kind)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_start(kind))
		log_warn("%s", sandbox_problem());
}

void sandbox_enter(enum sandbox_kind kind)
{
	if (!sandbox.is_on)
		return;
	become_kind(kind);
	if (kind != sandbox.kind && install_program(kind))
		log_warn("sandbox: a thread of kind %s keeps the system calls of %s",
			 sandbox_kind_text(kind), sandbox_kind_text(sandbox.kind));
}

static uint32_t count_refused(unsigned int kind, unsigned int number)
{
	return __atomic_load_n(&sandbox.refused[kind][number], __ATOMIC_RELAXED);
}

void sandbox_state(struct sandbox_state *state)
{
	*state = (struct sandbox_state){ .is_on = sandbox.is_on, .why_not = sandbox.why_not };
	for (unsigned int kind = 0; kind < SANDBOX_N_KINDS; kind++)
		for (unsigned int number = 0; number < NUMBERS_MAX; number++)
			state->n_refused += count_refused(kind, number);
}

static void log_refused(unsigned int kind, unsigned int number)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);

	snprintf(sandbox.problem, sizeof(sandbox.problem),
		 "sandbox: a thread of kind %s has asked for the system call %s, which its "
		 "kind may not make: a break-in, or a fault of volleyd or a library",
		 sandbox_kind_text((enum sandbox_kind)kind), name ? name : "?");
	log_error("%s", sandbox.problem);
	free(name);
	sandbox.is_logged[kind][number] = true;
}

void sandbox_tick(void)
{
	if (!sandbox.is_on)
		return;
	for (unsigned int kind = 0; kind < SANDBOX_N_KINDS; kind++)
		for (unsigned int number = 0; number < NUMBERS_MAX; number++)
			if (count_refused(kind, number) && !sandbox.is_logged[kind][number])
				log_refused(kind, number);
}

const char *sandbox_problem(void)
{
	if (!sandbox.is_on && *sandbox.why_not)
		snprintf(sandbox.problem, sizeof(sandbox.problem),
			 "sandbox: threads may make each system call: %s", sandbox.why_not);
	return sandbox.problem;
}
