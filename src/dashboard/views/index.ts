// The table of views: how each question is answered.
import type { Ask } from "../answers.ts";
import { about } from "./about.ts";
import { call, calls } from "./calls.ts";
import { end } from "./end.ts";
import { messages, recording } from "./messages.ts";
import { now } from "./now.ts";
import { sessions } from "./sessions.ts";
import { streams } from "./streams.ts";
import { timeline } from "./timeline.ts";
import { tools } from "./tools.ts";
import { topics } from "./topics.ts";
import type { View } from "./view.ts";

export const views: { readonly [Name in Ask]: View<Name> } = {
  about,
  now,
  sessions,
  streams,
  tools,
  topics,
  calls,
  call,
  timeline,
  messages,
  recording,
  end,
};
