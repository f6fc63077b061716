/* The page of findings around the single ones: what a trace was held to, how many are shown, and what was
 * found in all. */
#include "report/page_findings.h"

#include "report/page.h"

#include <string.h>

void kr_report_page_findings_begin(const char *trace, const struct kr_profile *profile,
	const struct kr_level *certify, const struct kr_history *h, struct kr_str *out)
{
	struct kr_str json;

	kr_str_init(&json, out->mem);
	kr_str_add(&json, "{");
	kr_str_member_shown(&json, "trace", trace);
	kr_str_member(&json, "profile", profile->name);
	kr_str_member(&json, "title", profile->title ? profile->title : "");
	if (certify)
		kr_str_member(&json, "certifies", certify->title);
	if (h->time_unit) {
		kr_str_member_shown(&json, "time_unit", h->time_unit);
	}
	kr_str_format(&json, ", \"stamps\": %s, \"skew\": \"%lld\"}",
		profile->clock == KR_CLOCK_STAMPS ? "true" : "false",
		profile->clock == KR_CLOCK_STAMPS ? 0LL : (long long)h->clock_skew);
	kr_page_data(out, "profile", &json);
}

/* With this one. */
static uint32_t count(struct kr_page_tally *tally, const struct kr_finding *f)
{
	const char *name = kr_finding_class_name(f);
	int c = 0;

	while (c + 1 < KR_PAGE_CLASSES && tally->at[f->mechanism][c].name &&
		strcmp(tally->at[f->mechanism][c].name, name) != 0)
		c++;
	tally->at[f->mechanism][c].name = name;
	return ++tally->at[f->mechanism][c].found;
}

enum kr_status kr_report_page_findings(struct kr_ctx *ctx, const struct kr_finding_report *r,
	const struct kr_marks *marks, struct kr_page_tally *tally, struct kr_str *out)
{
	struct kr_basis *basis = NULL;
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < r->all->list.n && !status; i++) {
		const struct kr_finding *f = &r->all->list.at[i];
		if (count(tally, f) > KR_PAGE_FINDINGS_MOST)
			continue;
		if (!basis)
			status = kr_basis_new(ctx, r->history,
				(struct kr_claims){r->profile, r->certify, marks}, r->all, &basis);
		if (!status)
			status = kr_report_page_finding(r, f, basis, out);
	}
	kr_basis_free(basis);
	return status;
}

void kr_report_page_findings_end(const struct kr_page_tally *tally, const char *looked, struct kr_str *out)
{
	const char *separator = "";
	struct kr_str json;

	kr_str_init(&json, out->mem);
	kr_str_format(&json, "{\"most\": %u, ", KR_PAGE_FINDINGS_MOST);
	kr_str_member(&json, "looked", looked);
	kr_str_add(&json, ", \"found\": [");
	for (int m = 0; m < KR_MECH_KINDS; m++)
		for (int c = 0; c < KR_PAGE_CLASSES && tally->at[m][c].name; c++) {
			kr_str_format(&json, "%s{\"mechanism\": \"%s\", \"class\": \"%s\", \"count\": %u}",
				separator, kr_mechanism_name((enum kr_mechanism_kind)m), tally->at[m][c].name,
				tally->at[m][c].found);
			separator = ", ";
		}
	kr_str_add(&json, "]}");
	kr_page_data(out, "outcome", &json);
}
