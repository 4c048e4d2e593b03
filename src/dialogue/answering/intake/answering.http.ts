import type { IncomingHttpHeaders } from 'node:http';
import { Body, Controller, Headers, HttpCode, Post, Res, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Frame } from '../../journal/message.events.js';
import { type Message, noMessage, withFrame } from '../../journal/message.policy.js';
import { isWaiting } from '../../conversation/tool-call.policy.js';
import { ownerOf, onlookerOf } from '../../../resources/identity/caller.js';
import { type Identity, unauthenticated } from '../../../resources/identity/identity.js';
import { RequestIdentity } from '../../../resources/identity/identity.http.js';
import { LastWrites } from '../../../kernel/event-sourcing/last-writes.js';
import { Rejection } from '../../../kernel/rejection.js';
import { UsageLimits } from '../../../work/limits/usage-limits.port.js';
import { JsonBodyOnly } from '../../../platform/http/bodies/json-body-only.js';
import { renderError } from '../../../platform/http/error-bodies.js';
import { failureOf } from '../../../platform/http/errors.js';
import { SseStreams } from '../../../platform/http/sse.js';
import { WaitingReplies } from '../../../platform/http/waiting-replies.js';
import { type AcceptedQuestion, AskQuestionIntake, type WayIn } from './ask-question-intake.js';
import { AnsweringOptions } from '../loop/answering-options.js';
import { InOlderForm } from './older-form.http.js';
import { QuestionRequest } from './question.dto.js';
import { FrameTail } from '../../journal/frame-tail.js';
import { DocumentedBody, OptionalHeader, type Sent, type Streamed } from '../../../platform/http/documented.js';
import { Access } from '../../../platform/http/access.js';

const EXAMPLE = { question: 'When is tea?', visibility: 'listed' };

/** Accepts questions and returns their answers, as one JSON object or as a stream. Both read the answer from the journal. */
@ApiTags('Answering')
@Controller()
export class AnsweringController {
  constructor(
    private readonly intake: AskQuestionIntake,
    private readonly frames: FrameTail,
    private readonly streams: SseStreams,
    private readonly lastWrites: LastWrites,
    private readonly options: AnsweringOptions,
    private readonly limits: UsageLimits,
    private readonly waiting: WaitingReplies,
  ) {}

  @ApiOperation({ summary: 'Ask a question; the answer streams as Server-Sent Events' })
  @OptionalHeader('Idempotency-Key')
  @DocumentedBody({ type: QuestionRequest }, EXAMPLE)
  @Access({ for: 'caller', action: 'ask', of: 'answers', scopes: ['chat:run'], links: 'too' })
  @Post('stream')
  @HttpCode(200)
  @UseGuards(JsonBodyOnly)
  async stream(
    @Body() request: QuestionRequest,
    @RequestIdentity() identity: Identity,
    @Headers() headers: IncomingHttpHeaders,
    @Res() reply: FastifyReply,
  ): Promise<Streamed<Frame>> {
    if (typeof request.index === 'number' && request.conversation_id === undefined) {
      throw new Rejection('invalid-request', 'Missing required fields: conversation_id');
    }
    const { accepted, sse } = await this.begin(request, identity, headers, reply);
    let isBegun = false;
    for await (const { text } of this.tail(accepted, this.waiting.signalOf(reply), identity)) {
      isBegun = true;
      if (!(await sse.write(text))) break;
    }
    // Without the first frame the client has no id to resume with.
    if (!isBegun) await sse.write(renderError('/stream', failureOf(this.waiting.brokenOff(), '')).body);
    sse.end();
  }

  @ApiOperation({ summary: 'Ask a question; the answer comes as one JSON object' })
  @OptionalHeader('Idempotency-Key')
  @DocumentedBody({ type: QuestionRequest }, EXAMPLE)
  @Access({ for: 'caller', action: 'ask', of: 'answers', scopes: ['chat:run'], links: 'too' })
  @Post('api/answer')
  @HttpCode(200)
  @UseGuards(JsonBodyOnly)
  @UseInterceptors(InOlderForm)
  async answer(
    @Body() request: QuestionRequest,
    @RequestIdentity() identity: Identity,
    @Headers() headers: IncomingHttpHeaders,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Sent<Answer | AnswerOfOlderForm | AnswerForOlderClients, Answer>> {
    const whole = { ...request, index: null, attachments: null };
    const accepted = await this.accept(whole, identity, 'answer', headers);
    let message = noMessage;
    for await (const { data } of this.tail(accepted, this.waiting.signalOf(reply), identity)) {
      message = data.reduce((soFar, each) => withFrame(soFar, JSON.parse(each) as Frame), message);
    }
    void reply.headers(headersOf(accepted, request));
    if (message.error) throw answerFailed(message.error);
    if (message.last !== 'end') throw this.waiting.brokenOff();
    return answerOf(accepted, message);
  }

  /**
   * Reserves a stream before it accepts the question, so that a question refused for too many streams leaves nothing in the log.
   */
  private async begin(request: QuestionRequest, identity: Identity, headers: IncomingHttpHeaders, reply: FastifyReply) {
    const release = this.streams.reserve(this.options.settings.streamsMax);
    if (!release) throw new Rejection('too-many-requests', 'Too many concurrent streams');
    try {
      const accepted = await this.accept(request, identity, 'stream', headers);
      release();
      return { accepted, sse: this.streams.start(reply, { headers: headersOf(accepted, request), owesRecord: true }) };
    } finally {
      release();
    }
  }

  private async *tail(accepted: AcceptedQuestion, signal: AbortSignal, identity: Identity) {
    try {
      const reader = onlookerOf(await identity.callerOrReader());
      yield* this.frames.tail(accepted, accepted.after, signal, reader);
    } finally {
      this.limits.endSeen(accepted.turnId);
    }
  }

  private async accept(request: QuestionRequest, identity: Identity, route: WayIn['route'], headers: IncomingHttpHeaders) {
    const caller = await identity.callerOrReader();
    if (!caller) throw unauthenticated();
    const key = headers['idempotency-key'];
    const way = { route, idempotencyKey: typeof key === 'string' ? key : undefined };
    const accepted = await this.intake.accept(request, caller, way);
    this.lastWrites.note(ownerOf(caller), accepted.position);
    return accepted;
  }
}

const answerFailed = ({ text, code }: NonNullable<Message['error']>) =>
  new Rejection('answer-failed', text, code === null ? undefined : { code });

const headersOf = ({ position, replayed }: AcceptedQuestion, { persist }: QuestionRequest): Record<string, string> => ({
  ...(persist === false ? { 'X-Ignored-Parameters': 'persist' } : {}),
  ...(position === undefined ? {} : { 'X-Position': String(position) }),
  ...(replayed ? { 'Idempotent-Replayed': 'true' } : {}),
});

const answerOf = ({ conversationId }: AcceptedQuestion, { parts, schema, pending, notices }: Message) => ({
  conversation_id: conversationId,
  answer: parts.answer,
  sources: parts.sources,
  tool_calls: parts.toolCalls.filter((call) => !isWaiting(call)),
  thought: parts.thought,
  ...(pending.length > 0 ? { pending_tool_calls: pending } : {}),
  ...(parts.structured ? { structured: true, schema } : {}),
  ...(notices.length > 0 ? { warnings: notices } : {}),
});

type Answer = ReturnType<typeof answerOf>;
/** The fields that older clients read. A question that is sent with a model provider's key gets only these. */
type AnswerOfOlderForm = Readonly<{ answer: string; query: string; result: string }>;
type AnswerForOlderClients = Answer & AnswerOfOlderForm;
