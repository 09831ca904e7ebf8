// SPDX-FileCopyrightText: The Volley authors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a kernel and a libxdp that refuse what those of this machine may allow. The
 * environment says what; each is left out where its variable is not set:
 *
 *	NO_PWAIT2=1		epoll_pwait2() is not there (Linux 5.10)
 *	NO_HELPER=160,190	nor are the BPF helpers of these numbers
 *	NO_FRAGS=1		nor programs for frames in several buffers (BPF_F_XDP_HAS_FRAGS)
 *	VERIFIER_SAYS=WORDS	the verifier refuses "volley" with these words and EACCES
 *	DISPATCHER_SAYS=22	libxdp's dispatcher refuses a program with this errno, once it is
 *				loaded for it (libxdp 1.3.1 with newer kernels)
 *	NATIVE_SAYS=95		the driver refuses a native program with this errno
 *
 * test_attach.py and test_doctor.py compile it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

struct bpf_object;
struct bpf_program;
struct bpf_xdp_attach_opts;
struct epoll_event;
struct xdp_program;

static int number(const char *name)
{
	const char *value = getenv(name);

	return value ? atoi(value) : 0;
}

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort(); /* a test that would prove nothing */
	return found;
}

int epoll_pwait2(int fd, struct epoll_event *events, int cap, const struct timespec *timeout,
		 const void *mask)
{
	int (*real)(int, struct epoll_event *, int, const struct timespec *, const void *) =
		next("epoll_pwait2");

	if (!number("NO_PWAIT2"))
		return real(fd, events, cap, timeout, mask);
	errno = ENOSYS;
	return -1;
}

/* --- Loading ---------------------------------------------------------------------------------- */

static bool calls(const union bpf_attr *attr, int helper)
{
	const struct bpf_insn *insns = (const struct bpf_insn *)(uintptr_t)attr->insns;

	for (uint32_t i = 0; i < attr->insn_cnt; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg &&
		    insns[i].imm == helper)
			return true;
	return false;
}

/* The first of the helpers NO_HELPER that the program calls, or 0. */
static int missing_of(const union bpf_attr *attr)
{
	const char *at = getenv("NO_HELPER");

	while (at && *at) {
		char *end;
		int helper = (int)strtol(at, &end, 10);

		if (calls(attr, helper))
			return helper;
		at = *end ? end + 1 : end;
	}
	return 0;
}

static long refuse(const union bpf_attr *attr, int err, const char *words)
{
	if (attr->log_level && attr->log_buf)
		snprintf((char *)(uintptr_t)attr->log_buf, attr->log_size,
			 "0: R1=ctx(off=0,imm=0) R10=fp0\n; int volley(struct xdp_md *ctx)\n"
			 "0: (bf) r6 = r1\n%s\nprocessed 17 insns (limit 1000000) "
			 "max_states_per_insn "
			 "0 total_states 1 peak_states 1 mark_read 1\n",
			 words);
	errno = err;
	return -1;
}

/* libbpf makes its calls by this one. */
long syscall(long nr, ...)
{
	long (*real)(long, long, long, long, long, long, long) = next("syscall");
	const union bpf_attr *attr;
	char words[64];
	int helper;
	va_list args;
	long a[6];

	va_start(args, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	attr = (const union bpf_attr *)a[1];
	helper = nr == SYS_bpf && a[0] == BPF_PROG_LOAD ? missing_of(attr) : 0;
	if (helper) {
		snprintf(words, sizeof(words), "invalid func unknown#%d", helper);
		return refuse(attr, EINVAL, words);
	}
	if (nr == SYS_bpf && a[0] == BPF_PROG_LOAD && number("NO_FRAGS") &&
	    attr->prog_flags & BPF_F_XDP_HAS_FRAGS)
		return refuse(attr, EINVAL, "");
	if (nr == SYS_bpf && a[0] == BPF_PROG_LOAD && getenv("VERIFIER_SAYS") &&
	    !strcmp(attr->prog_name, "volley"))
		return refuse(attr, EACCES, getenv("VERIFIER_SAYS"));
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- Attaching -------------------------------------------------------------------------------- */

/* The object cannot be loaded again, as after libxdp has tried. */
int xdp_program__attach(struct xdp_program *prog, int ifindex, int mode, unsigned int flags)
{
	int (*real)(struct xdp_program *, int, int, unsigned int) = next("xdp_program__attach");
	struct bpf_object *(*object)(struct xdp_program *) = next("xdp_program__bpf_obj");
	struct bpf_program *(*first)(struct bpf_object *, struct bpf_program *) =
		next("bpf_object__next_program");
	int (*set_type)(struct bpf_program *, int) = next("bpf_program__set_type");
	int (*load)(struct bpf_object *) = next("bpf_object__load");
	int err = number("DISPATCHER_SAYS");

	if (!err)
		return real(prog, ifindex, mode, flags);
	set_type(first(object(prog), NULL), BPF_PROG_TYPE_EXT);
	if (!load(object(prog)))
		abort();
	return -err;
}

int bpf_xdp_attach(int ifindex, int prog_fd, unsigned int flags,
		   const struct bpf_xdp_attach_opts *opts)
{
	int (*real)(int, int, unsigned int, const struct bpf_xdp_attach_opts *) =
		next("bpf_xdp_attach");
	int err = number("NATIVE_SAYS");

	if (err && prog_fd >= 0 && (flags & XDP_FLAGS_DRV_MODE))
		return -err;
	return real(ifindex, prog_fd, flags, opts);
}
