import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Commands } from '../../../kernel/commands.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Rejection, Unavailable } from '../../../kernel/rejection.js';
import type { Dialect, Exchange } from '../../../dialogue/conversation/conversation.events.js';
import { Answers, type StartedAnswer } from '../../../dialogue/answering/intake/answers.port.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import { AskedQuestions, type Question, type Way } from '../asking/asked-questions.js';
import { OpenAiOptions } from '../asking/openai-options.js';
import { refused } from '../asking/refusals.policy.js';
import { withAttachments } from './input.policy.js';
import { CreateResponse } from './response.commands.js';
import { responseNotFound, storedResponse } from './response.decider.js';
import { type ResponseCreated, responseStream } from './response.events.js';
import { responseIdIn, responseIdOf } from './response-ids.policy.js';
import type { ResponseHead } from './response-object.policy.js';
import type { ResponseRequest } from './response-request.policy.js';
import { type KnownEnd, ResponseTranslator, type TranslatedEvent } from './response-translator.js';

/** The translators by version. A response is always read with the version with which it was created. */
const TRANSLATORS: Readonly<Record<number, new (head: ResponseHead) => ResponseTranslator>> = { 1: ResponseTranslator };
const NEWEST = 1;
const DIALECT: Dialect = { name: 'openai-responses', translator: NEWEST };

/** A requested response. A response that is not stored has no head before its first frame. */
export type StartedResponse = Readonly<{ started: StartedAnswer; head: ResponseHead | undefined; request: ResponseRequest }>;

/** Responses of OpenAI's API: runs of turns, read from their journals. */
@Injectable()
export class Responses {
  constructor(
    private readonly answers: Answers,
    private readonly asked: AskedQuestions,
    private readonly commands: Commands,
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly options: OpenAiOptions,
  ) {}

  /**
   * Stores first the question and then the response. A crash between the two leaves an answer without a response, whose id no
   * client knows. A repetition with the idempotency key creates the response. @throws Rejection
   */
  async create(request: ResponseRequest, caller: AgentKeyCaller, key: string | undefined): Promise<StartedResponse> {
    const { started, ids } = await this.begin(request, caller, key);
    if (!request.store) return { started, head: undefined, request };
    const { conversationId, turnId, after } = started;
    const place = { conversationId, turnId, after };
    const created: ResponseCreated['data'] = {
      responseId: responseIdOf(place),
      ...place,
      createdAt: this.clock.now().toISOString(),
      translator: NEWEST,
      echo: request.echo,
      input: withAttachments(request.items, ids),
    };
    const state = await this.commands.execute(new CreateResponse(created, caller.cause));
    if (state.status !== 'there') throw responseNotFound();
    return { started, head: headOf(state.created), request };
  }

  private async begin(request: ResponseRequest, caller: AgentKeyCaller, key: string | undefined) {
    const { said, body } = request;
    const way = { route: 'responses', key, dialect: DIALECT, body } as const;
    const previousId = request.echo.previous_response_id;
    const previous = previousId === null ? undefined : await asPrevious(this.found(previousId, caller));
    if (said.kind === 'results') {
      if (previous && previous.conversationId !== said.conversationId)
        throw refused('input', 'has results for calls of another response than previous_response_id.');
      return { started: await this.asked.resume(said, caller, way), ids: new Map<string, string>() };
    }
    if (previous && said.history.length > 0)
      throw refused('input', 'says what was said before, which previous_response_id says as well.');
    const question = { ...request, said };
    const { attachmentIds, ...started } = previous
      ? await this.askAfter(previous, question, caller, way)
      : await this.asked.ask(question, caller, said.conversationId, way);
    return { started, ids: new Map(said.attached.map(({ place }, index) => [place, attachmentIds[index]!])) };
  }

  /** Asks again, in a new conversation, if another question follows the previous response meanwhile. */
  private async askAfter(
    previous: ResponseCreated['data'],
    question: Question,
    caller: AgentKeyCaller,
    way: Way,
  ): ReturnType<AskedQuestions['ask']> {
    const from = await this.goingOnFrom(previous);
    if (typeof from !== 'number') return this.asked.ask(question, caller, from, way);
    try {
      return await this.asked.ask(question, caller, previous.conversationId, { ...way, nextIndex: from });
    } catch (error) {
      if (!(error instanceof Rejection && error.code === 'index-out-of-range')) throw error;
      return this.askAfter(previous, question, caller, way);
    }
  }

  private async goingOnFrom(previous: ResponseCreated['data']): Promise<number | readonly Exchange[]> {
    const { ending, calls } = (await asPrevious(this.read(previous))).translator;
    if (!ending) throw refused('previous_response_id', 'names a response that has not come to its end.');
    const from = await this.answers.goingOnFrom(previous);
    if (from === 'waits') throw refused('input', `has no output for the function call ${calls[0]?.call_id}.`);
    return from;
  }

  /** A response that the caller may read, stop and delete. @throws Rejection response-not-found */
  async found(publicId: string, caller: AgentKeyCaller): Promise<ResponseCreated['data']> {
    const responseId = responseIdIn(publicId);
    if (responseId === undefined) throw responseNotFound();
    const { state } = await this.streams.fold(responseStream(responseId), storedResponse);
    if (state.status !== 'there' || this.isExpired(state.created)) throw responseNotFound();
    const { conversationId } = state.created;
    await this.answers.requireReadable(conversationId, caller).catch(notFoundFor('message-not-found'));
    return state.created;
  }

  /** A response past the retention period is not found, even before it is purged, because its journal may be deleted. */
  private isExpired({ createdAt }: ResponseCreated['data']): boolean {
    return new Date(createdAt) < new Date(this.clock.now().getTime() - 1_000 * this.options.retentionSeconds);
  }

  /** The response in its current state. @throws Rejection response-not-found if its journal is deleted */
  async asOf(created: ResponseCreated['data']): Promise<object> {
    const { translator, end } = await this.read(created);
    return translator.asOf(end);
  }

  /** Whether the response has ended. @throws Rejection response-not-found if its journal is deleted */
  async isOver(created: ResponseCreated['data']): Promise<boolean> {
    return (await this.read(created)).end !== undefined;
  }

  private read(created: ResponseCreated['data']) {
    return this.translated(created).catch(notFoundFor('journal-expired'));
  }

  private async translated(created: ResponseCreated['data']) {
    const translator = translatorFor(headOf(created));
    for await (const { id, frame } of this.answers.written(created, created.after)) {
      translator.add(id, frame);
      if (translator.ending) return { translator, end: await this.endOf(created, id) };
    }
    return { translator, end: undefined };
  }

  /** All events, past and live, up to the one that ends the response, or until the signal aborts. */
  async *events(head: ResponseHead, caller: AgentKeyCaller, signal: AbortSignal): AsyncGenerator<TranslatedEvent> {
    const translator = translatorFor(head);
    yield* translator.opening();
    for await (const { id, frame } of this.answers.frames(
      { ...head, replayed: false, position: undefined },
      head.after,
      caller,
      signal,
    )) {
      yield* translator.add(id, frame);
      if (translator.ending) return yield* translator.closing(await this.endOf(head, id));
    }
  }

  /** The response at its end. Undefined if the signal aborts before. */
  async atEnd(head: ResponseHead, caller: AgentKeyCaller, signal: AbortSignal): Promise<object | undefined> {
    let response: object | undefined;
    for await (const event of this.events(head, caller, signal)) if (isLast(event)) response = event['response'] as object;
    return response;
  }

  /** The head of a response that is not stored, after its first frame. Undefined if the signal aborts before. */
  async headOnceBegun(
    { started, request }: StartedResponse,
    caller: AgentKeyCaller,
    signal: AbortSignal,
  ): Promise<ResponseHead | undefined> {
    const { conversationId, turnId, after } = started;
    for await (const _ of this.answers.frames(started, after, caller, signal)) {
      const createdAt = seconds(await this.answers.journaledAt(started, after));
      const place = { conversationId, turnId, after };
      return { responseId: responseIdOf(place), ...place, createdAt, translator: NEWEST, echo: request.echo, isStored: false };
    }
    return undefined;
  }

  private async endOf(
    place: Readonly<{ conversationId: string; turnId: string; after: number }>,
    lastId: number,
  ): Promise<KnownEnd> {
    const usage = await this.answers.usage(place, place.after, lastId);
    return { usage, completedAt: seconds(await this.answers.journaledAt(place, lastId - 1)) };
  }
}

export function headOf({
  responseId,
  conversationId,
  turnId,
  after,
  createdAt,
  translator,
  echo,
}: ResponseCreated['data']): ResponseHead {
  return { responseId, conversationId, turnId, after, createdAt: seconds(new Date(createdAt)), translator, echo, isStored: true };
}

const notFoundFor =
  (code: string) =>
  (error: unknown): never => {
    throw error instanceof Rejection && error.code === code ? responseNotFound() : error;
  };

/** Reports a rejection of the previous response as an error of the field `previous_response_id`. */
const asPrevious = <T>(found: Promise<T>): Promise<T> =>
  found.catch((error: unknown) => {
    if (!(error instanceof Rejection)) throw error;
    throw new Rejection('previous-response-not-found', error.message, { param: 'previous_response_id' });
  });

const seconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

const LAST: ReadonlySet<string> = new Set(['response.completed', 'response.failed', 'response.incomplete']);

const isLast = ({ type }: TranslatedEvent): boolean => LAST.has(type);

function translatorFor(head: ResponseHead): ResponseTranslator {
  const Translator = TRANSLATORS[head.translator];
  if (!Translator) throw new Unavailable('A newer version of the service has started this response.');
  return new Translator(head);
}
