// The error of a keyword that cannot be compiled, although its value is of the right kind.

/** Such an error does not know its place; the compiler of the schema around it adds that. */
export class InvalidKeyword extends TypeError {}
