// Why a validation ends before it knows.

/** It has to stop; `message` says why. */
export class Stopped extends Error {}

/** It met something that JSON does not know, such as an undefined member. */
export class NotJson extends Error {}
