import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Query, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { JsonBodyOnly } from '../../../platform/http/bodies/json-body-only.js';
import { DocumentedBody, OptionalHeader, OptionalQuery } from '../../../platform/http/documented.js';
import { failureOf } from '../../../platform/http/errors.js';
import type { SseStream } from '../../../platform/http/reader-stream.js';
import { SseStreams } from '../../../platform/http/sse.js';
import { WaitingReplies } from '../../../platform/http/waiting-replies.js';
import type { AgentKeyCaller } from '../../../resources/identity/caller.js';
import { type Identity, unauthenticated } from '../../../resources/identity/identity.js';
import { KeyIdentity } from '../../../resources/identity/identity.http.js';
import { ignoredBy } from '../asking/ignored.policy.js';
import { OpenAiOptions } from '../asking/openai-options.js';
import { isAbsent, refused } from '../asking/refusals.policy.js';
import { inTheirWords, type TheirNames } from '../asking/their-words.policy.js';
import { DeletedResponses } from './deleted-responses.js';
import { inputItemsOf } from './input-items.policy.js';
import { DELETED, INPUT_ITEMS, RESPONSE_BODY, RESPONSE_EXAMPLE, responseOrEvents, RESPONSE } from './response-body.js';
import { ResponseEndings } from './response-endings.js';
import { publicIdOf } from './response-ids.policy.js';
import type { ResponseHead } from './response-object.policy.js';
import { type ResponseRequest, responseRequestOf } from './response-request.policy.js';
import type { TranslatedEvent } from './response-translator.js';
import { type StartedResponse, headOf, Responses } from './responses.js';

/** The names of fields in this dialect, by the service's own names. */
const THEIR_NAMES: TheirNames = {
  json_schema: 'text.format',
  max_tokens: 'max_output_tokens',
  model_id: 'model',
  client_tools: 'tools',
  tool_actions: 'input',
  history: 'input',
  question: 'input',
  system_prompt_override: 'instructions',
};

/** Responses of OpenAI's API: the answers of the agent whose key is the bearer token, as events that can be read again. */
@ApiTags('OpenAI')
@Controller('v1/responses')
export class ResponsesController {
  constructor(
    private readonly responses: Responses,
    private readonly endings: ResponseEndings,
    private readonly deleted: DeletedResponses,
    private readonly streams: SseStreams,
    private readonly options: OpenAiOptions,
    private readonly agents: AgentQueries,
    private readonly waiting: WaitingReplies,
  ) {}

  @ApiOperation({ summary: 'Asks the agent of a key for a response: whole, as events, or in the background' })
  @OptionalHeader('Idempotency-Key')
  @DocumentedBody({ schema: RESPONSE_BODY }, RESPONSE_EXAMPLE)
  @ApiResponse(responseOrEvents('The response: at its end, started where `background` is true, or its events where `stream` is.'))
  @Access({ for: 'key', action: 'ask', of: 'responses' })
  @Post()
  @HttpCode(200)
  @UseGuards(JsonBodyOnly)
  async create(
    @Body() body: unknown,
    @KeyIdentity() identity: Identity,
    @Res() reply: FastifyReply,
    @Headers('Idempotency-Key') key?: string,
  ): Promise<void> {
    const caller = await callerOf(identity);
    const read = responseRequestOf(body, caller.agentId);
    const request = { ...read, ignored: ignoredBy((await this.agents.byId(caller.agentId))?.configuration, read) };
    const begin = () => this.responses.create(request, caller, key).catch(inTheirWords(THEIR_NAMES));
    if (request.stream) return this.stream(begin, caller, reply);
    const started = await begin();
    const response = await this.whole(started, caller, reply);
    void reply.headers(headersOf(started)).send(response);
  }

  @ApiOperation({ summary: 'A response in its current state, or its past and live events after a given one' })
  @OptionalQuery('stream', 'starting_after', 'include_obfuscation')
  @ApiResponse(responseOrEvents('The response, or its events where `stream` is true.'))
  @Access({ for: 'key', action: 'read', of: 'responses' })
  @Get(':responseId')
  async retrieve(
    @Param('responseId') id: string,
    @KeyIdentity() identity: Identity,
    @Res() reply: FastifyReply,
    @Query() query: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const caller = await callerOf(identity);
    const after = startingAfter(query);
    const created = await this.responses.found(id, caller);
    if (after === undefined) return void reply.send(await this.responses.asOf(created));
    // If the journal is deleted, this rejects the request before the stream begins.
    await this.responses.isOver(created);
    if (this.streams.size >= this.options.streamsMax) throw new Rejection('too-many-requests', 'Too many concurrent streams');
    const sse = this.streams.start(reply);
    await this.write(headOf(created), caller, sse, after);
  }

  @ApiOperation({ summary: 'Stops a running response and keeps the text so far' })
  @ApiResponse({
    status: 200,
    description: 'The response after the cancellation.',
    content: { 'application/json': { schema: RESPONSE } },
  })
  @Access({ for: 'key', action: 'change', of: 'responses' })
  @Post(':responseId/cancel')
  @HttpCode(200)
  async cancel(@Param('responseId') id: string, @KeyIdentity() identity: Identity): Promise<object> {
    const caller = await callerOf(identity);
    return this.endings.cancel(await this.responses.found(id, caller), caller);
  }

  @ApiOperation({
    summary: 'Deletes a response and ends its streams. Its conversation keeps the answer',
  })
  @ApiResponse({ status: 200, description: 'The response is deleted.', content: { 'application/json': { schema: DELETED } } })
  @Access({ for: 'key', action: 'delete', of: 'responses' })
  @Delete(':responseId')
  async delete(@Param('responseId') id: string, @KeyIdentity() identity: Identity): Promise<object> {
    const caller = await callerOf(identity);
    const created = await this.responses.found(id, caller);
    await this.endings.delete(created, caller);
    return { id: publicIdOf(created.responseId), object: 'response', deleted: true };
  }

  @ApiOperation({ summary: 'The input items of a response' })
  @OptionalQuery('after', 'limit', 'order')
  @ApiResponse({ status: 200, description: 'A page of input items.', content: { 'application/json': { schema: INPUT_ITEMS } } })
  @Access({ for: 'key', action: 'read', of: 'responses' })
  @Get(':responseId/input_items')
  async inputItems(
    @Param('responseId') id: string,
    @KeyIdentity() identity: Identity,
    @Query('after') after?: string,
    @Query('limit') limit?: string,
    @Query('order') order?: string,
  ): Promise<object> {
    return inputItemsOf(await this.responses.found(id, await callerOf(identity)), { after, limit, order });
  }

  /**
   * The response at its end, or at once if it runs in the background. @throws Rejection answer-failed if the service stops before
   * the end
   */
  private async whole(started: StartedResponse, caller: AgentKeyCaller, reply: FastifyReply): Promise<object> {
    const { head: stored, request } = started;
    if (stored && request.echo.background)
      return this.responses.asOf(await this.responses.found(publicIdOf(stored.responseId), caller));
    const signal = this.waiting.signalOf(reply);
    const head = stored ?? (await this.responses.headOnceBegun(started, caller, signal));
    const response = head && (await this.responses.atEnd(head, caller, signal));
    if (!response) throw this.waiting.brokenOff();
    return response;
  }

  /** Reserves a stream before the question is accepted, so that a request that is refused at the limit leaves no turn. */
  private async stream(begin: () => Promise<StartedResponse>, caller: AgentKeyCaller, reply: FastifyReply): Promise<void> {
    const release = this.streams.reserve(this.options.streamsMax);
    if (!release) throw new Rejection('too-many-requests', 'Too many concurrent streams');
    try {
      const started = await begin();
      release();
      const sse = this.streams.start(reply, { headers: headersOf(started), owesRecord: true });
      const head = started.head ?? (await this.responses.headOnceBegun(started, caller, this.waiting.signalOf(reply)));
      if (head) return await this.write(head, caller, sse, -1);
      const { code, message } = failureOf(this.waiting.brokenOff(), '');
      await sse.write(rendered({ type: 'error', code: code ?? null, message, param: null, sequence_number: 0 }));
      sse.end();
    } finally {
      release();
    }
  }

  /** A stream that breaks off, for example because its key was revoked, has no last event. */
  private async write(head: ResponseHead, caller: AgentKeyCaller, sse: SseStream, after: number): Promise<void> {
    const stopWatching = head.isStored ? this.deleted.watch(head.responseId, () => sse.end()) : () => undefined;
    try {
      for await (const event of this.responses.events(head, caller, sse.signal)) {
        if (event.sequence_number > after && !(await sse.write(rendered(event)))) return;
      }
    } finally {
      stopWatching();
      sse.end();
    }
  }
}

const rendered = (event: TranslatedEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

async function callerOf(identity: Identity): Promise<AgentKeyCaller> {
  const caller = await identity.agentKey();
  if (!caller) throw unauthenticated();
  return caller;
}

/**
 * The number of the last event that the reader has, -1 for none. Undefined if no stream is requested. @throws Rejection
 * invalid-request
 */
function startingAfter(query: Readonly<Record<string, unknown>>): number | undefined {
  const { stream, starting_after: after, include_obfuscation: obfuscates, ...rest } = query;
  const unknown = Object.keys(rest).find((name) => name !== 'api_key');
  if (unknown !== undefined) throw refused(unknown, 'is not supported.');
  if (!isAbsent(stream) && stream !== 'true' && stream !== 'false') throw refused('stream', 'must be true or false.');
  if (!isAbsent(obfuscates) && obfuscates !== 'false')
    throw refused('include_obfuscation', 'is not supported, or not with this value.');
  if (stream !== 'true' && !isAbsent(after)) throw refused('starting_after', 'needs stream=true.');
  if (stream !== 'true') return undefined;
  if (isAbsent(after)) return -1;
  if (typeof after !== 'string' || !/^\d{1,9}$/.test(after))
    throw refused('starting_after', 'must be a whole number, 0 or more.');
  return Number(after);
}

const headersOf = ({
  started: { position, replayed },
  request: { ignored },
}: Readonly<{ started: StartedResponse['started']; request: ResponseRequest }>) => ({
  ...(ignored.length === 0 ? {} : { 'X-Ignored-Parameters': ignored.join(', ') }),
  ...(position === undefined ? {} : { 'X-Position': String(position) }),
  ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}),
});
