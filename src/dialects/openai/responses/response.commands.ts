import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { create, expire, remove, type StoredResponse, storedResponse } from './response.decider.js';
import { type ResponseCreated, responseStream } from './response.events.js';

/** The subject of the signal that a response is deleted. Its readers then check whether it still exists. */
export const responseDeletedSubject = (responseId: string): string => `response.deleted.${responseId}`;

/**
 * Stores the data of a response that its journal does not hold. Resolves to the stored response, which an earlier request may
 * have created.
 */
export class CreateResponse extends Command<StoredResponse> {
  constructor(
    readonly created: ResponseCreated['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateResponse)
class CreateResponseHandler implements Handler<CreateResponse> {
  constructor(private readonly streams: Streams) {}

  /** @throws Rejection response-not-found */
  async execute({ created, cause }: CreateResponse): Promise<StoredResponse> {
    return (await this.streams.transact(responseStream(created.responseId), storedResponse, create(created), cause)).state;
  }
}

/** Deletes a response, so that it is no longer found. */
export class DeleteResponse extends Command {
  constructor(
    readonly responseId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(DeleteResponse)
class DeleteResponseHandler implements Handler<DeleteResponse> {
  constructor(
    private readonly streams: Streams,
    private readonly signals: Signals,
  ) {}

  /** @throws Rejection response-not-found */
  async execute({ responseId, cause }: DeleteResponse): Promise<void> {
    await this.streams.transact(responseStream(responseId), storedResponse, remove(responseId), cause);
    this.signals.publish(responseDeletedSubject(responseId), '');
  }
}

/** Deletes a response whose retention period is over. */
export class ExpireResponse extends Command {
  constructor(
    readonly responseId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ExpireResponse)
class ExpireResponseHandler implements Handler<ExpireResponse> {
  constructor(private readonly streams: Streams) {}

  async execute({ responseId, cause }: ExpireResponse): Promise<void> {
    await this.streams.transact(responseStream(responseId), storedResponse, expire(responseId), cause);
  }
}

export const responseHandlers = [CreateResponseHandler, DeleteResponseHandler, ExpireResponseHandler];
