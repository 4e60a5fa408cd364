// The outcome of a validation, whatever library did it.

export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly string[] };

/** A value can be wrong in as many places as it has, and repeat itself in each: whoever sent it needs the first few. */
const maxIssues = 20;
const maxIssueLength = 500;

/** What is wrong, in no more words than help. */
export function failure<Issue>(issues: readonly Issue[], describe: (issue: Issue) => string): Validation {
  const first = issues.slice(0, maxIssues).map((issue) => cut(describe(issue)));
  const more = issues.length - first.length;
  return { ok: false, issues: more > 0 ? [...first, `and ${more} more`] : first };
}

function cut(text: string): string {
  return text.length > maxIssueLength ? `${text.slice(0, maxIssueLength)}…` : text;
}
