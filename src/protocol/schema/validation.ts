// The outcome of a validation, the same for every schema library.

export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly string[] };

/** A large value can have any number of issues; the sender needs only the first few. */
const maxIssues = 20;
const maxIssueLength = 500;

/** A failed validation with a bounded number of bounded messages. */
export function failure<Issue>(issues: readonly Issue[], describe: (issue: Issue) => string): Validation {
  const first = issues.slice(0, maxIssues).map((issue) => cut(describe(issue)));
  const more = issues.length - first.length;
  return { ok: false, issues: more > 0 ? [...first, `and ${more} more`] : first };
}

function cut(text: string): string {
  return text.length > maxIssueLength ? `${text.slice(0, maxIssueLength)}…` : text;
}
