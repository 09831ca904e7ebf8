/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify --log OBJECT: prints the verifier's whole log of each program, with the state of registers
 * before each instruction.
 *
 * verify [--max N] OBJECT...: loads each program of a BPF object and prints its cost: the
 * instructions that the verifier walked, its peak of states, the size of the bytecode (after the
 * kernel's rewriting) and of the native code. Fails if a program does not load, and then prints the
 * end of the verifier's log; also if more than N instructions (100,000) were walked. The object's
 * maps exist only meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#define LOG_BYTES       (16u << 20)
#define LOG_STEPS       1 /* BPF_LOG_LEVEL1: each instruction of the path that failed */
#define LOG_STATES      2 /* BPF_LOG_LEVEL2: each instruction of each path, with registers */
#define LOG_STATS       4 /* BPF_LOG_STATS: totals only */
#define WHOLE_LOG_BYTES (1000ul << 20) /* the kernel's limit is 1 GiB; only what is used is there */
#define LOG_TAIL_BYTES  3000u

static unsigned long max_verified = 100000;
static char log_buf[LOG_BYTES];

static unsigned long number_after(const char *word)
{
	const char *at = strstr(log_buf, word);

	return at ? strtoul(at + strlen(word), NULL, 10) : 0;
}

static int report(const char *path, struct bpf_program *prog)
{
	const char *base = strrchr(path, '/');
	unsigned long verified = number_after("processed ");
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len)) {
		perror("verify: bpf_obj_get_info_by_fd");
		return -1;
	}
	printf("%-24s %-9s %6lu verified (max %lu), %4lu states, %5u instructions, %6u bytes "
	       "native\n",
	       base ? base + 1 : path, bpf_program__name(prog), verified, max_verified,
	       number_after("peak_states "), info.xlated_prog_len / 8, info.jited_prog_len);
	if (!verified) {
		fprintf(stderr, "verify: the kernel's log has no totals:\n%s\n", log_buf);
		return -1;
	}
	if (verified > max_verified) {
		fprintf(stderr, "verify: %s: over its budget\n", bpf_program__name(prog));
		return -1;
	}
	return 0;
}

/* Loads the program of that name alone, with its log of LOG_* in `log`. */
static int load_alone(struct bpf_object *obj, const char *name, __u32 log_level, char *log,
		      size_t log_bytes)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj) {
		bpf_program__set_autoload(prog, !strcmp(bpf_program__name(prog), name));
	}
	prog = bpf_object__find_program_by_name(obj, name);
	log[0] = '\0';
	bpf_program__set_log_buf(prog, log, log_bytes);
	bpf_program__set_log_level(prog, log_level);
	return bpf_object__load(obj);
}

/* Loads only the object's program of that name, and reports its cost. log_level: LOG_*. */
static int load(const char *path, const char *name, __u32 log_level)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	int err;

	if (!obj)
		return -1;
	err = load_alone(obj, name, log_level, log_buf, sizeof(log_buf));
	if (!err)
		err = report(path, bpf_object__find_program_by_name(obj, name));
	bpf_object__close(obj);
	return err;
}

/* Prints the whole log of one program. */
static int print_log(const char *path, const char *name, char *log)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	int err = obj ? load_alone(obj, name, LOG_STATES, log, WHOLE_LOG_BYTES) : -1;

	if (err)
		fprintf(stderr, "verify: %s: %s failed, or its log is too long\n", path, name);
	else
		fputs(log, stdout);
	bpf_object__close(obj);
	return err;
}

static int print_logs(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	char *log = malloc(WHOLE_LOG_BYTES);
	struct bpf_program *prog;
	int err = obj && log ? 0 : -1;

	bpf_object__for_each_program(prog, obj) {
		if (!err)
			err = print_log(path, bpf_program__name(prog), log);
	}
	free(log);
	bpf_object__close(obj);
	return err;
}

static void print_log_tail(void)
{
	size_t len = strlen(log_buf);

	fprintf(stderr, "%s\n", len > LOG_TAIL_BYTES ? log_buf + len - LOG_TAIL_BYTES : log_buf);
}

static int verify_object(const char *path)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	struct bpf_program *prog;
	int err = 0;

	if (!obj)
		return -1;
	bpf_object__for_each_program(prog, obj) {
		if (!load(path, bpf_program__name(prog), LOG_STATS))
			continue;
		err = -1;
		fprintf(stderr, "verify: %s: %s failed\n", path, bpf_program__name(prog));
		(void)load(path, bpf_program__name(prog), LOG_STEPS | LOG_STATS);
		print_log_tail();
	}
	bpf_object__close(obj);
	return err;
}

int main(int argc, char **argv)
{
	int first = 1, err = 0;

	if (argc == 3 && !strcmp(argv[1], "--log"))
		return print_logs(argv[2]) ? 1 : 0;
	if (argc > 2 && !strcmp(argv[1], "--max")) {
		max_verified = strtoul(argv[2], NULL, 10);
		first = 3;
	}
	if (first >= argc) {
		fprintf(stderr, "usage: verify --log OBJECT | [--max N] OBJECT...\n");
		return 2;
	}
	setlinebuf(stdout);
	for (int i = first; i < argc; i++)
		err |= verify_object(argv[i]);
	return err ? 1 : 0;
}
