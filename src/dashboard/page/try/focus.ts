// Moves the focus to the first problem.

/** Focuses the first field of a form that is marked as wrong, once it is. */
export function focusProblem(form: HTMLFormElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
}
