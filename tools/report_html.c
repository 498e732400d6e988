/* SPDX-License-Identifier: BSD-3-Clause
 * report_html.c: `h5twin report --html`: one page that needs nothing else: a row for each dataset,
 * with its sizes, and the largest error within its bound, drawn as bars. */
#include "common/number.h"
#include "messages.h"
#include "report_rows.h"
#include "verify.h"

#include <math.h>
#include <string.h>

#define BAR_WIDTH 240.0 /* pixels of the largest dataset, or of a bound */

static const char style[] =
    "body{font:15px/1.4 system-ui,sans-serif;margin:2em;color:#222;background:#fff}"
    "table{border-collapse:collapse}th,td{padding:.25em .7em;text-align:left;"
    "border-bottom:1px solid #ddd;vertical-align:top}td.n,th.n{text-align:right;"
    "font-variant-numeric:tabular-nums}tfoot td{font-weight:600;border-top:2px solid #222}"
    ".raw{fill:#c6d8e8}.stored{fill:#1f6aa5}.error{fill:#b8860b}.broken{fill:#c0392b}"
    ".limit{stroke:#222;stroke-width:1}p.bad,td.bad{color:#c0392b;font-weight:600}"
    "td:first-child{overflow-wrap:anywhere;min-width:9em}td:nth-child(6){overflow-wrap:anywhere}"
    "@media(prefers-color-scheme:dark){body{background:#16181b;color:#ddd}"
    "th,td{border-color:#444}.raw{fill:#3a4b5a}.stored{fill:#5aa9e6}.limit{stroke:#ddd}}"
    /* where there is no room: each dataset is a block of its own, without the bars of sizes */
    "@media(max-width:62em){body{margin:.7em}thead,.sizes{display:none}"
    "tr{display:block;padding:.4em 0;border-bottom:1px solid #888}"
    "td,tfoot td{display:inline-block;border:0;padding:.1em .8em .1em 0}"
    "td:first-child,td:nth-child(8){display:block}td:nth-child(5){display:none}"
    "td:nth-child(2)::before{content:'raw '}td:nth-child(3)::before{content:'stored '}"
    "td:nth-child(4)::before{content:'ratio '}td:nth-child(7)::before{content:'chunks '}}";

/* Names may hold any bytes: those that would be markup are spelt out. */
static void
print_text(FILE *html, const char *text)
{
    for (size_t size; *text != '\0'; text += size) {
        char character[8] = "";
        h5twin_character(text, &size);
        memcpy(character, text, size);
        switch (*text) {
        case '&':
            fputs("&amp;", html);
            break;
        case '<':
            fputs("&lt;", html);
            break;
        case '>':
            fputs("&gt;", html);
            break;
        case '"':
            fputs("&quot;", html);
            break;
        default:
            h5twin_put_text(html, character);
        }
    }
}

static void
print_size(FILE *html, uint64_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)size;
    int unit = 0;
    while (value >= 999.5 && unit < 6) {
        value /= 1000;
        unit++;
    }
    fprintf(html, "<td class=n title=\"%llu bytes\">%.*f&nbsp;%s</td>", (unsigned long long)size,
            unit == 0 || value >= 100 ? 0 : 1, value, units[unit]);
}

static void
print_ratio(FILE *html, uint64_t raw_size, uint64_t stored_size)
{
    if (stored_size == 0) {
        fputs("<td class=n>-</td>", html);
    } else {
        fprintf(html, "<td class=n>%.2f</td>", (double)raw_size / (double)stored_size);
    }
}

static void
print_bars(FILE *html, const struct h5twin_report *report, const struct h5twin_report_row *row)
{
    const double scale = report->largest_size == 0 ? 0 : BAR_WIDTH / (double)report->largest_size;
    const double raw = row->stored_size == 0 ? 0 : scale * (double)row->raw_size;
    const double stored = scale * (double)row->stored_size;
    fprintf(html,
            "<td><svg width=\"%.0f\" height=\"18\" role=\"img\"><title>%llu bytes stored as "
            "%llu</title><rect class=raw width=\"%.1f\" height=\"8\" y=\"1\"/><rect "
            "class=stored width=\"%.1f\" height=\"8\" y=\"9\"/></svg></td>",
            BAR_WIDTH, (unsigned long long)row->raw_size, (unsigned long long)row->stored_size, raw,
            stored < BAR_WIDTH ? stored : BAR_WIDTH);
}

static void
print_filters(FILE *html, const struct h5twin_report_row *row)
{
    fputs("<td>", html);
    for (int i = 0; i < row->filter_count; i++) {
        const struct h5twin_report_filter *const filter = &row->filters[i];
        fputs(i == 0 ? "" : ", ", html);
        print_text(html, filter->spec[0] != '\0'   ? filter->spec
                         : filter->name[0] != '\0' ? filter->name
                                                   : "unknown");
    }
    fputs("</td>", html);
}

static void
print_chunks(FILE *html, const struct h5twin_report_row *row)
{
    const uint64_t unwritten = h5twin_report_unwritten(row);
    if (!row->chunked) {
        fputs("<td class=n>-</td>", html);
        return;
    }
    fprintf(html, "<td class=n>%llu", (unsigned long long)row->counts.written);
    if (row->ours >= 0 && row->counts.raw != 0) {
        fprintf(html, "<br>%llu raw", (unsigned long long)row->counts.raw);
    }
    if (unwritten != 0) {
        fprintf(html, "<br>%llu never written", (unsigned long long)unwritten);
    }
    if (row->counts.wrong != 0) {
        fprintf(html, "<br><b>%llu damaged</b>", (unsigned long long)row->counts.wrong);
    }
    fputs("</td>", html);
}

/* The largest error as a part of the bound, which is the line. */
static void
print_error_bar(FILE *html, const struct h5twin_comparison *comparison)
{
    const double part = comparison->max_error / h5twin_compare_limit(comparison);
    const bool broken = comparison->violation_count != 0;
    if (part >= 0 && isfinite(part) && isfinite(h5twin_compare_limit(comparison))) {
        fprintf(html,
                "<br><svg width=\"%.0f\" height=\"12\" role=\"img\"><title>the largest error is "
                "%.3g of the bound</title><rect class=%s width=\"%.1f\" height=\"8\" y=\"2\"/>"
                "<line class=limit x1=\"%.0f\" x2=\"%.0f\" y1=\"0\" y2=\"12\"/></svg>",
                BAR_WIDTH / 2 + 2, part, broken ? "broken" : "error",
                (part < 1 ? part : 1) * BAR_WIDTH / 2, BAR_WIDTH / 2, BAR_WIDTH / 2);
    }
}

static void
print_comparison(FILE *html, const struct h5twin_report_row *row)
{
    const struct h5twin_comparison *const comparison = &row->comparison;
    const bool broken = row->compared && row->has_promise && comparison->violation_count != 0;
    char error[H5TWIN_NUMBER_TEXT], psnr[H5TWIN_NUMBER_TEXT];
    fputs(broken ? "<td class=bad>" : "<td>", html);
    if (!row->compared) {
        fputs("not compared: ", html);
        print_text(html, row->mismatch);
    } else if (comparison->different_count == 0) {
        fputs("identical", html);
    } else {
        h5twin_number_write(error, h5twin_round_for_people(comparison->max_error));
        h5twin_number_write(psnr, h5twin_round_for_people(h5twin_compare_psnr(comparison)));
        if (row->is_float) {
            fprintf(html, "max error %s, PSNR %s dB", error, psnr);
        } else {
            fprintf(html, "%llu differ", (unsigned long long)comparison->different_count);
        }
        if (broken) {
            fprintf(html, ", %llu beyond what was promised",
                    (unsigned long long)comparison->violation_count);
        }
        if (row->is_float) {
            print_error_bar(html, comparison);
        }
    }
    fputs("</td>", html);
}

static void
html_head(const struct h5twin_report *report)
{
    FILE *const html = report->html;
    fputs("<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport "
          "content=\"width=device-width\"><title>",
          html);
    print_text(html, report->args->path);
    fprintf(html, "</title><style>%s</style>\n<h1>", style);
    print_text(html, report->args->path);
    fputs("</h1>\n", html);
    if (report->args->original != NULL) {
        fputs("<p>Values are compared with those of ", html);
        print_text(html, report->args->original);
        fputs(".</p>\n", html);
    }
    fputs(
        "<p class=sizes>Bars: raw size above, stored size below.</p>\n<table><thead><tr><th>dataset"
        "<th class=n>raw<th class=n>stored<th class=n>ratio<th>sizes<th>filters"
        "<th class=n>chunks",
        html);
    fputs(report->args->original != NULL ? "<th>errors; the line is the bound</tr>" : "</tr>",
          html);
    fputs("</thead><tbody>\n", html);
}

static void
html_row(const struct h5twin_report *report, const struct h5twin_report_row *row)
{
    FILE *const html = report->html;
    char element[H5TWIN_ELEMENT_TEXT];
    fputs("<tr><td>", html);
    print_text(html, row->name);
    fprintf(html, "<br><small>%s</small></td>", h5twin_hdf5_element_text(row->dataset, element));
    print_size(html, row->raw_size);
    print_size(html, row->stored_size);
    print_ratio(html, row->raw_size, row->stored_size);
    print_bars(html, report, row);
    print_filters(html, row);
    print_chunks(html, row);
    if (report->original >= 0) {
        print_comparison(html, row);
    }
    fputs("</tr>\n", html);
}

static void
html_totals(const struct h5twin_report *report)
{
    FILE *const html = report->html;
    fprintf(html, "</tbody><tfoot><tr><td>%llu dataset%s</td>",
            (unsigned long long)report->dataset_count, report->dataset_count == 1 ? "" : "s");
    print_size(html, report->raw_size);
    print_size(html, report->stored_size);
    print_ratio(html, report->raw_size, report->stored_size);
    fputs("</tr></tfoot></table>\n", html);
    if (report->original >= 0) {
        uint64_t total, kept;
        h5twin_pairs_count(&report->pairs, &total, &kept);
        fprintf(html, "<p>%llu of %llu datasets of the original kept.</p>\n",
                (unsigned long long)kept, (unsigned long long)total);
    }
    if (report->result != 0) {
        fputs("<p class=bad>Chunks are damaged, values are beyond what was promised, or nothing "
              "could "
              "be compared.</p>\n",
              html);
    }
    fputs("</html>\n", html);
}

const struct h5twin_report_form h5twin_report_html = {html_head, html_row, html_totals};
