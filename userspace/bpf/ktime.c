/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/tiny_programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "base/clock.h"

#define FRAME_BYTES 64 /* the length that the kernel demands of a test frame */
#define TRIES       10
#define QUICK_NS    (CLOCK_NS_PER_S / 10)

#define INSN(...) ((struct bpf_insn){ __VA_ARGS__ })

/* Loads a program that returns 32 bits of the clock in nanoseconds, from bit `shift` on. A
 * descriptor or -errno. */
static int load_ktime(int shift)
{
	const struct bpf_insn insns[] = {
		INSN(.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_coarse_ns),
		INSN(.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = shift),
		INSN(.code = BPF_JMP | BPF_EXIT),
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "volley_ktime", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), NULL);

	return fd < 0 ? -errno : fd;
}

static int run_ktime(int fd, uint32_t *result)
{
	uint8_t frame[FRAME_BYTES] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame));

	if (bpf_prog_test_run_opts(fd, &opts))
		return -errno;
	*result = opts.retval;
	return 0;
}

/* Reads the upper half before and after the lower half: if it is unchanged, both halves are of the
 * same time. */
static int read_ktime(const int fds[2], uint64_t *ns)
{
	uint32_t before = 0, low = 0, high = 0;
	int err;

	do {
		err = run_ktime(fds[1], &before);
		if (!err)
			err = run_ktime(fds[0], &low);
		if (!err)
			err = run_ktime(fds[1], &high);
	} while (!err && before != high);
	*ns = (uint64_t)high << 32 | low;
	return err;
}

int ktime_offset(int64_t *ahead_ns)
{
	int fds[2] = { load_ktime(0), load_ktime(32) }, err = fds[0] < 0 ? fds[0] :
							      fds[1] < 0 ? fds[1] :
									   0;
	uint64_t ktime_ns = 0, before_ns, after_ns = 0;
	int64_t ahead = 0;

	/* An interruption between the clocks looks like an offset: try again if it took long. */
	for (int i = 0; i < TRIES && !err; i++) {
		before_ns = clock_ns();
		err = read_ktime(fds, &ktime_ns);
		after_ns = clock_ns();
		ahead = (int64_t)(before_ns - ktime_ns);
		if (after_ns - before_ns < QUICK_NS)
			break;
	}
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (err || (ahead > -(int64_t)CLOCK_NS_PER_S && ahead < (int64_t)CLOCK_NS_PER_S))
		ahead = 0;
	*ahead_ns = ahead;
	return err;
}
