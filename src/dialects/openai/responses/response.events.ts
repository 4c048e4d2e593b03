import type { Event } from '../../../kernel/event-sourcing/events.js';

/** What a request for a response said, as its response repeats it. */
export type ResponseEcho = Readonly<{
  background: boolean;
  instructions: string | null;
  max_output_tokens: number | null;
  metadata: Readonly<Record<string, string>>;
  model: string;
  previous_response_id: string | null;
  temperature: number | null;
  text: Readonly<{ format: Readonly<Record<string, unknown>> }>;
  tools: readonly Readonly<Record<string, unknown>>[];
  top_p: number | null;
}>;

/** What was asked, an item for each thing that was said. */
export type InputItem = Readonly<Record<string, unknown>>;

/** Where the answer is: the frames of a turn after one, up to the end of that run. */
export type ResponsePlace = Readonly<{ conversationId: string; turnId: string; after: number }>;

/** `translator`: the version with which all of its events are made. */
export type ResponseCreated = Event<
  'ResponseCreated',
  { responseId: string } & ResponsePlace & {
      createdAt: string;
      translator: number;
      echo: ResponseEcho;
      input: readonly InputItem[];
    }
>;
/** Its caller deleted it: nobody finds it any more, and what was asked goes. The answer stays in its conversation. */
export type ResponseDeleted = Event<'ResponseDeleted', { responseId: string }>;
/** The journal that it is made from is as old as journals become. */
export type ResponseExpired = Event<'ResponseExpired', { responseId: string }>;

export type ResponseEvent = ResponseCreated | ResponseDeleted | ResponseExpired;

export const responseStream = (responseId: string): string => `response-${responseId}`;
