import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { responseCodec } from './response.codec.js';
import type { ResponseCreated, ResponseEvent } from './response.events.js';

/** The state of a response. */
export type StoredResponse = Readonly<{ status: 'none' | 'deleted' } | { status: 'there'; created: ResponseCreated['data'] }>;

export const storedResponse: Aggregate<StoredResponse, ResponseEvent> = {
  initial: { status: 'none' },
  evolve: (_, event) => (event.type === 'ResponseCreated' ? { status: 'there', created: event.data } : { status: 'deleted' }),
  codec: responseCodec,
};

type Decide = Decision<StoredResponse, ResponseEvent>;

export const responseNotFound = (): Rejection => new Rejection('response-not-found', 'There is no such response.');

/** A repeated request finds the response that it created before. @throws Rejection response-not-found if that is deleted */
export const create =
  (data: ResponseCreated['data']): Decide =>
  ({ status }) => {
    if (status === 'deleted') throw responseNotFound();
    return status === 'there' ? [] : [{ type: 'ResponseCreated', data }];
  };

/** @throws Rejection response-not-found */
export const remove =
  (responseId: string): Decide =>
  ({ status }) => {
    if (status !== 'there') throw responseNotFound();
    return [{ type: 'ResponseDeleted', data: { responseId } }];
  };

export const expire =
  (responseId: string): Decide =>
  ({ status }) =>
    status === 'there' ? [{ type: 'ResponseExpired', data: { responseId } }] : [];
