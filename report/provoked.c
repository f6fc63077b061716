/* The page of `krait-lab provoke --html`: a frame around cells, which the program in report/page/provoked.js
 * shows. */
#include "report/page.h"

void kr_report_provoked_begin(struct kr_str *out)
{
	kr_page_open("", kr_provoked_style, "The same as text: <code>krait-lab provoke</code>.", out);
}

void kr_report_provoked_cell(struct kr_str *json, struct kr_str *out) { kr_page_data(out, "cell", json); }

void kr_report_provoked_end(struct kr_str *out) { kr_page_close(kr_provoked_program, out); }
