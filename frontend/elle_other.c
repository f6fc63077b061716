/* What Jepsen writes and is no history of reads, writes and appends: which it is, and what can be read
 * instead. */
#include <string.h>

#include "frontend/elle.h"

enum kr_status kr_elle_other(struct kr_forms *f, uint32_t name, uint32_t line, const char *of,
	const char *expected)
{
	static const struct {
		const char *names[5], *what;
	} others[] = {
		{{"send", "poll", "subscribe", "assign"},
			" (a history of a queue, which krait has no levels for)"},
		{{"enqueue", "dequeue", "drain"}, " (a history of a queue, which krait has no levels for)"},
		{{"append"},
			" outside of a transaction (text that is put behind text, which krait has no values "
			"for)"},
		{{"generate"}, " (unique ids, which krait has no levels for)"},
	};
	const char *what = "";
	char found[80];

	for (size_t i = 0; i < KR_COUNT(others); i++)
		for (size_t k = 0; k < KR_COUNT(others[i].names) && others[i].names[k]; k++)
			if (kr_form_is(f, name, others[i].names[k]))
				what = others[i].what;
	return kr_forms_bad(f, line, "%s is %s%s, expected %s", of, kr_form_found(f, name, found), what,
		expected);
}
