import { Body, Controller, Headers, HttpCode, Post, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import type { StartedAnswer } from '../../dialogue/answering/intake/answers.port.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { JsonBodyOnly } from '../../platform/http/bodies/json-body-only.js';
import { DocumentedBody, OptionalHeader, type Sent, type Streamed } from '../../platform/http/documented.js';
import { sseData } from '../../platform/http/sse-data.policy.js';
import { renderError } from '../../platform/http/error-bodies.js';
import { failureOf } from '../../platform/http/errors.js';
import type { SseStream } from '../../platform/http/reader-stream.js';
import { SseStreams } from '../../platform/http/sse.js';
import { WaitingReplies } from '../../platform/http/waiting-replies.js';
import type { AgentKeyCaller } from '../../resources/identity/caller.js';
import { type Identity, unauthenticated } from '../../resources/identity/identity.js';
import { KeyIdentity } from '../../resources/identity/identity.http.js';
import { CHAT_BODY, CHAT_EXAMPLE } from './chat-body.js';
import { ChatAnswers, type ChatStep } from './chat-answers.js';
import { type ChatRequest, chatRequestOf } from './chat-request.policy.js';
import {
  type ChatCompletion,
  type ChatCompletionChunk,
  chunkOf,
  completionOf,
  type Ending,
  type Head,
  usageChunkOf,
} from './completion.policy.js';
import { ignoredBy } from './asking/ignored.policy.js';
import { OpenAiOptions } from './asking/openai-options.js';
import { inTheirWords, type TheirNames } from './asking/their-words.policy.js';

const CONVERSATION_HEADER = 'X-DocsGPT-Conversation-ID';

type Started = Readonly<{ request: ChatRequest; started: StartedAnswer; caller: AgentKeyCaller }>;

/** Chat completions of OpenAI's API. The agent whose key is the bearer token answers. */
@ApiTags('OpenAI')
@Controller('v1/chat')
export class ChatCompletionsController {
  constructor(
    private readonly chat: ChatAnswers,
    private readonly streams: SseStreams,
    private readonly options: OpenAiOptions,
    private readonly agents: AgentQueries,
    private readonly waiting: WaitingReplies,
  ) {}

  @ApiOperation({
    summary: 'Asks the agent of a key, as clients of OpenAI’s API do. The key is the bearer token, or in X-API-Key.',
  })
  @OptionalHeader('Idempotency-Key', CONVERSATION_HEADER)
  @DocumentedBody({ schema: CHAT_BODY }, CHAT_EXAMPLE)
  @Access({ for: 'key', action: 'ask', of: 'answers' })
  @Post('completions')
  @HttpCode(200)
  @UseGuards(JsonBodyOnly)
  async complete(
    @Body() body: unknown,
    @KeyIdentity() identity: Identity,
    @Res() reply: FastifyReply,
    @Headers('Idempotency-Key') key?: string,
    @Headers(CONVERSATION_HEADER) conversationInHeader?: string,
  ): Promise<Sent<ChatCompletion, Streamed<ChatCompletionChunk>>> {
    const caller = await identity.agentKey();
    if (!caller) throw unauthenticated();
    const read = chatRequestOf(body, caller.agentId);
    const request = { ...read, ignored: ignoredBy((await this.agents.byId(caller.agentId))?.configuration, read) };
    const named = conversationInHeader || request.conversationId;
    const begin = async (): Promise<Started> => ({
      request,
      started: await this.chat
        .begin(request, caller, named, key)
        .catch(inTheirWords({ ...THEIR_NAMES, json_schema: request.schemaField })),
      caller,
    });
    await (request.stream ? this.stream(begin, reply) : this.answer(await begin(), reply));
  }

  private async answer({ request, started, caller }: Started, reply: FastifyReply): Promise<void> {
    let last: ChatStep | undefined;
    for await (const step of this.chat.read(started, caller, this.waiting.signalOf(reply))) last = step;
    void reply.headers(headersOf(started, request));
    const ending = last?.completion.ending;
    if (ending?.kind === 'failed') throw failed(ending);
    if (!last || ending?.kind !== 'finished') throw this.waiting.brokenOff();
    const head = await this.chat.headOf(started, caller);
    const usage = await this.chat.usage(started, last.lastId);
    void reply.send(completionOf(head, last.completion, ending.reason, usage));
  }

  /** Reserves a stream before the question is accepted, so that a request that is refused at the limit leaves no turn. */
  private async stream(begin: () => Promise<Started>, reply: FastifyReply): Promise<void> {
    const release = this.streams.reserve(this.options.streamsMax);
    if (!release) throw new Rejection('too-many-requests', 'Too many concurrent streams');
    try {
      const started = await begin();
      release();
      const sse = this.streams.start(reply, { headers: headersOf(started.started, started.request), owesRecord: true });
      await this.write(started, sse, this.waiting.signalOf(reply));
      sse.end();
    } finally {
      release();
    }
  }

  private async write(
    { request: { includesUsage }, started, caller }: Started,
    sse: SseStream,
    signal: AbortSignal,
  ): Promise<void> {
    const send = (data: object) => sse.write(`data: ${sseData(data)}\n\n`);
    const toCome = includesUsage ? { usage: null } : {};
    let head: Head | undefined;
    let isWhole = false;
    for await (const { completion, additions, lastId } of this.chat.read(started, caller, signal)) {
      head ??= await this.chat.headOf(started, caller);
      for (const addition of additions) if (!(await send({ ...chunkOf(head, addition), ...toCome }))) return;
      const { ending } = completion;
      isWhole = ending !== null;
      if (ending?.kind === 'failed') await send({ error: { ...errorOf(ending), type: 'server_error', param: null } });
      if (ending?.kind !== 'finished') continue;
      await send({ ...chunkOf(head, {}, ending.reason), ...toCome });
      if (includesUsage) await send(usageChunkOf(head, await this.chat.usage(started, lastId)));
    }
    if (!head) await sse.write(`data: ${renderError('/v1', failureOf(this.waiting.brokenOff(), '')).body}\n\n`);
    // A stream that breaks off, for example because its key was revoked, must not look complete.
    if (isWhole) await sse.write('data: [DONE]\n\n');
  }
}

const errorOf = ({ text, code }: Extract<Ending, { kind: 'failed' }>) => ({ message: text, code });

const failed = ({ text, code }: Extract<Ending, { kind: 'failed' }>): Rejection =>
  new Rejection('answer-failed', text, code === null ? undefined : { code });

const headersOf = ({ position, replayed }: StartedAnswer, { ignored }: ChatRequest): Record<string, string> => ({
  ...(ignored.length === 0 ? {} : { 'X-Ignored-Parameters': ignored.join(', ') }),
  ...(position === undefined ? {} : { 'X-Position': String(position) }),
  ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}),
});

/** The names of fields in this dialect, by the service's own names. */
const THEIR_NAMES: TheirNames = {
  model_id: 'model',
  client_tools: 'tools',
  tool_actions: 'messages',
  history: 'messages',
  question: 'messages',
  system_prompt_override: 'messages',
};
