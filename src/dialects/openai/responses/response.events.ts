import type { Event } from '../../../kernel/event-sourcing/events.js';

/** The fields of a request that its response repeats. */
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

export type InputItem = Readonly<Record<string, unknown>>;

/** The place of the answer in a journal: the frames of a turn after the frame `after`, up to the end of that run. */
export type ResponsePlace = Readonly<{ conversationId: string; turnId: string; after: number }>;

/** `translator`: the version of the translator that makes all events of the response. */
export type ResponseCreated = Event<
  'ResponseCreated',
  { responseId: string } & ResponsePlace & {
      createdAt: string;
      translator: number;
      echo: ResponseEcho;
      input: readonly InputItem[];
    }
>;
/** The caller deleted the response. It is no longer found and its input is purged. The answer stays in its conversation. */
export type ResponseDeleted = Event<'ResponseDeleted', { responseId: string }>;
/** The response has expired with the journal that it is read from. */
export type ResponseExpired = Event<'ResponseExpired', { responseId: string }>;

export type ResponseEvent = ResponseCreated | ResponseDeleted | ResponseExpired;

export const responseStream = (responseId: string): string => `response-${responseId}`;
