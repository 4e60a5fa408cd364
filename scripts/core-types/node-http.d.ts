// The types of Node that signatures outside of Node's own files name. `tsconfig.core.json` has nothing else of Node.
declare module "node:http" {
  export interface IncomingMessage {
    readonly url?: string | undefined;
  }
  export interface ServerResponse {
    readonly writableEnded: boolean;
  }
}
