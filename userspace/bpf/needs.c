/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/refusal.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>

#include "volley.skel.h"

/* Helpers of XDP programs, and the first Linux that has each. Helpers not listed are older. */
#define SINCES(X)                      \
	X(redirect_map, "4.14")        \
	X(xdp_adjust_tail, "4.18")     \
	X(fib_lookup, "4.18")          \
	X(ringbuf_output, "5.8")       \
	X(ktime_get_boot_ns, "5.8")    \
	X(ktime_get_coarse_ns, "5.11") \
	X(loop, "5.17")                \
	X(xdp_get_buff_len, "5.18")    \
	X(xdp_load_bytes, "5.18")      \
	X(xdp_store_bytes, "5.18")

static const struct since {
	int helper;
	const char *name;
	const char *linux_version;
} sinces[] = {
#define SINCE(name, linux_version) { BPF_FUNC_##name, "bpf_" #name, linux_version },
	SINCES(SINCE)
#undef SINCE
};

/* The helper's row in `sinces`, which is in order of versions. A helper without a row gets the
 * number after the last. */
static size_t row_of(int helper)
{
	size_t row = 0;

	while (row < sizeof(sinces) / sizeof(sinces[0]) && sinces[row].helper != helper)
		row++;
	return row;
}

static void describe_need(int helper, char *text, size_t cap)
{
	size_t row = row_of(helper);

	if (row < sizeof(sinces) / sizeof(sinces[0]))
		snprintf(text, cap, "%s(): take Linux %s or later", sinces[row].name,
			 sinces[row].linux_version);
	else
		snprintf(text, cap, "BPF helper of number %d: take a later Linux", helper);
}

/* The helper that an instruction calls; 0: it calls none. */
static int called_by(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg ? insn->imm : 0;
}

/*
 * The newest of the missing helpers: a kernel that has it has the others. Probes each helper once.
 */
static int find_missing(const struct bpf_insn *insns, size_t n)
{
	bool is_known[__BPF_FUNC_MAX_ID] = { false };
	int missing = 0;

	for (size_t i = 0; i < n; i++) {
		int helper = called_by(&insns[i]);

		if (helper <= 0 || helper >= __BPF_FUNC_MAX_ID || is_known[helper])
			continue;
		is_known[helper] = true;
		if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, (enum bpf_func_id)helper, NULL))
			continue;
		if (!missing || row_of(helper) > row_of(missing))
			missing = helper;
	}
	return missing;
}

bool needs_find_missing(char *text, size_t cap)
{
	struct volley_bpf *skel = volley_bpf__open();
	int helper = 0;

	if (skel)
		helper = find_missing(bpf_program__insns(skel->progs.volley),
				      bpf_program__insn_cnt(skel->progs.volley));
	volley_bpf__destroy(skel);
	if (!helper)
		return false;
	describe_need(helper, text, cap);
	return true;
}
