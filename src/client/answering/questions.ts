// All that answers questions, loaded together: by a client that has handlers when it connects, by another with the first question.
export { Handlers } from "./handlers.ts";
export { RequiredUrls } from "./required-urls.ts";
export { answerRound, nextParams } from "./rounds.ts";
