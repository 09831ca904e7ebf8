/* SPDX-FileCopyrightText: The Volley authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/sentence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_a_sentence_comes_and_goes(void **state)
{
	struct sentence s = { 0 };

	(void)state;
	assert_string_equal(sentence_text(&s), "");
	sentence_set(&s, "%s:%d: no such record", "a.zone", 7);
	assert_string_equal(sentence_text(&s), "a.zone:7: no such record");
	sentence_set(&s, "again: %s", sentence_text(&s));
	assert_string_equal(sentence_text(&s), "again: a.zone:7: no such record");
	sentence_set(&s, "%s", "");
	assert_null(s.bytes);
	sentence_set(&s, "x");
	sentence_clear(&s);
	sentence_clear(&s);
	assert_null(s.bytes);
}

static bool has_memory = true;

int __wrap_vasprintf(char **out, const char *format, va_list args);
int __real_vasprintf(char **out, const char *format, va_list args);

int __wrap_vasprintf(char **out, const char *format, va_list args)
{
	return has_memory ? __real_vasprintf(out, format, args) : -1;
}

/* An error that cannot be told in full is still one. */
static void test_a_sentence_without_memory(void **state)
{
	struct sentence s = { 0 };

	(void)state;
	sentence_set(&s, "before");
	has_memory = false;
	sentence_set(&s, "an error");
	sentence_set(&s, "another");
	has_memory = true;
	assert_non_null(s.bytes);
	sentence_set(&s, "after");
	assert_string_equal(sentence_text(&s), "after");
	sentence_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sentence_comes_and_goes),
		cmocka_unit_test(test_a_sentence_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
