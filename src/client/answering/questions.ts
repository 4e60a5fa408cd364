// The code that answers questions, loaded in one piece: by `connect` if the client has handlers, otherwise with the first
// question.
export { Handlers } from "./handlers.ts";
export { RequiredUrls } from "./required-urls.ts";
export { answerRound, nextParams } from "./rounds.ts";
