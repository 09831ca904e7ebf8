/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Doctor reads numbers, lists and names of interrupts from files, and facts of this host. */
#include "doctor/gather.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/tmpfolder.h"

struct irq_row {
	const char *name;
	int queue;
};

static const struct irq_row irq_rows[] = {
	{ "eth0-TxRx-3", 3 },
	{ "i40e-ens1f0-TxRx-17", 17 },
	{ "ice-eth0-TxRx-0", 0 },
	{ "eth0-rx-2", 2 },
	{ "eth0-Tx-Rx-5", 5 },
	{ "virtio1-input.4", 4 },
	{ "mlx5_comp11@pci:0000:01:00.0", 11 },
	{ "eth0-tx-2", -1 },
	{ "virtio1-output.4", -1 },
	{ "virtio1-config", -1 },
	{ "mlx5_async@pci:0000:01:00.0", -1 },
	{ "eth0", -1 },
	{ "ena-mgmnt@pci:0000:00:05.0", -1 },
	{ "", -1 },
};

static void test_irq_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(irq_rows) / sizeof(irq_rows[0]); i++)
		if (doctor_irq_queue(irq_rows[i].name) != irq_rows[i].queue)
			fail_msg("%s: %d", irq_rows[i].name, doctor_irq_queue(irq_rows[i].name));
}

/* Writes a file like those in /proc and /sys, without adding a newline. */
static void write_file(const char *text)
{
	FILE *out = fopen(tmpfolder_file, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

struct number_row {
	const char *text;
	int64_t value;
};

static const struct number_row number_rows[] = {
	{ "0\n", 0 },          { "17\n", 17 },   { "9223372036854775807\n", INT64_MAX },
	{ "max\n", -ENODATA }, { "", -ENODATA }, { "-1\n", -ENODATA },
};

static void test_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(number_rows) / sizeof(number_rows[0]); i++) {
		write_file(number_rows[i].text);
		assert_int_equal(doctor_read_number("%s", tmpfolder_file), number_rows[i].value);
	}
	assert_int_equal(doctor_read_number("%s", "/no/such/file"), -ENOENT);
}

struct list_row {
	const char *text;
	int n;
	size_t one; /* a processor in the list */
};

static const struct list_row list_rows[] = {
	{ "0-3,8\n", 5, 8 },
	{ "5\n", 1, 5 },
	{ "1022-1030\n", 2, 1023 },
	{ "2,x,3\n", 1, 2 },
	{ "7-99999999999\n", 1017, 1023 },
	{ "3-4,\n", 2, 4 },
};

static void test_lists(void **state)
{
	cpu_set_t cpus;

	(void)state;
	for (size_t i = 0; i < sizeof(list_rows) / sizeof(list_rows[0]); i++) {
		write_file(list_rows[i].text);
		doctor_read_cpus(&cpus, "%s", tmpfolder_file);
		if (CPU_COUNT(&cpus) != list_rows[i].n || !CPU_ISSET(list_rows[i].one, &cpus))
			fail_msg("%s: %d", list_rows[i].text, CPU_COUNT(&cpus));
	}
	write_file("\n");
	doctor_read_cpus(&cpus, "%s", tmpfolder_file);
	assert_int_equal(CPU_COUNT(&cpus), 0);
	doctor_read_cpus(&cpus, "/no/such/file");
	assert_int_equal(CPU_COUNT(&cpus), 0);
}

/* Each host has a kernel, memory, processors and a loopback interface. */
static void test_this_host(void **state)
{
	static struct doctor_host host;
	static struct doctor_nic nic;

	(void)state;
	doctor_gather_host(&host, 0);
	assert_true(host.kernel[0] >= 4);
	assert_true(host.available_bytes > 0);
	assert_true(host.page_bytes >= 4096);
	CPU_SET(0, &host.workers);
	doctor_gather_cpus(&host.cpus, &host.workers);
	assert_true(CPU_COUNT(&host.cpus.online) > 0);
	doctor_gather_nic(&nic, "lo");
	assert_true(nic.ifindex > 0);
	assert_int_equal(nic.n_queues, 1);
	doctor_gather_nic(&nic, "nothere0");
	assert_int_equal(nic.ifindex, -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_irq_names),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_this_host),
	};

	return cmocka_run_group_tests(tests, tmpfolder_make, tmpfolder_remove);
}
