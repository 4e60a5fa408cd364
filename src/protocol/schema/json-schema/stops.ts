// Errors that end a validation early.

/** The validation exceeds a limit; `message` says which. */
export class Stopped extends Error {}

/** The value contains something that JSON cannot represent, such as an undefined member. */
export class NotJson extends Error {}
