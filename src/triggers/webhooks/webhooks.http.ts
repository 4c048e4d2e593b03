import { Controller, Get, HttpCode, Post, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiConsumes, ApiHeader, ApiNotFoundResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Commands } from '../../kernel/commands.js';
import { IDEMPOTENCY_KEY_CHARACTERS_MAX } from '../../kernel/event-sourcing/idempotency.js';
import { Rejection } from '../../kernel/rejection.js';
import { jsonTextOf } from '../../platform/http/bodies/json-body.js';
import { AnyJsonBodyOnly } from '../../platform/http/bodies/json-body-only.js';
import { answerPosition } from '../../platform/http/positions.js';
import { type Given, InputChecks } from '../../dialogue/answering/guardrails/input-checks.port.js';
import { WITHHELD } from '../../resources/guardrails/guardrail.policy.js';
import { AcceptDelivery, type Delivery } from './delivery.commands.js';
import { tooLarge, webhookAgentOf } from './webhook-lookup.http.js';
import { WebhookOptions } from './webhook-options.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';

/** Maximum time for the guardrail checks of a delivery: programs time out sooner than people. */
const CHECK_MS_MAX = 5_000;

const TOKEN = { name: 'token', description: 'The last part of the webhook’s URL.' };
const KEY = {
  name: 'Idempotency-Key',
  required: false,
  description: `At most ${IDEMPOTENCY_KEY_CHARACTERS_MAX} characters. A repeated key gets the task of the first delivery.`,
};

type AcceptedBody = Readonly<{ success: true; task_id: string }>;

/** Lets other programs run agents. The token in the path is the only credential. */
@ApiTags('Webhooks')
@ApiNotFoundResponse({ description: 'No agent has this token. Too many wrong tokens from one address get 429.' })
@Controller('api/webhooks/agents')
export class WebhooksController {
  constructor(
    private readonly commands: Commands,
    private readonly options: WebhookOptions,
    private readonly inputs: InputChecks,
  ) {}

  @ApiParam(TOKEN)
  @Access({ for: 'capability', action: 'ask', of: 'webhooks' })
  @Post(':token')
  @HttpCode(200)
  @UseGuards(AnyJsonBodyOnly)
  @ApiOperation({ summary: 'Runs the agent with the body as its input; the response holds the id of the task.' })
  @ApiConsumes('application/json', 'application/*+json')
  @DocumentedBody({ schema: { description: 'Any JSON value except null.' } }, { order: 42, state: 'paid' })
  @ApiHeader(KEY)
  async post(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<AcceptedBody> {
    const input = jsonTextOf(request);
    if (request.headers['content-type'] === undefined) {
      throw new Rejection('media-type-not-accepted', 'The request body must be JSON, with Content-Type: application/json.');
    }
    if (input === undefined) throw new Rejection('invalid-request', 'Invalid or missing JSON data in request body');
    return this.accept(request, reply, input, request.body);
  }

  @ApiParam(TOKEN)
  @Access({ for: 'capability', action: 'ask', of: 'webhooks' })
  @Get(':token')
  @ApiOperation({ summary: 'Runs the agent with the query parameters as its input, a JSON object of texts.' })
  @ApiHeader(KEY)
  async get(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Query() query: Readonly<Record<string, string | readonly string[]>>,
  ): Promise<AcceptedBody | undefined> {
    // A HEAD request must not start a run.
    if (request.method === 'HEAD') return undefined;
    const value = Object.fromEntries(Object.entries(query).map(([name, given]) => [name, [given].flat()[0]]));
    return this.accept(request, reply, JSON.stringify(value), value);
  }

  private async accept(request: FastifyRequest, reply: FastifyReply, input: string, value: unknown): Promise<AcceptedBody> {
    const { id: agentId, ownerId, configuration } = webhookAgentOf(request);
    const { bodyBytesMax } = this.options;
    if (Buffer.byteLength(input) > bodyBytesMax) throw tooLarge(bodyBytesMax);
    const cause = {
      actor: `webhook:${agentId}`,
      credential: 'webhook-token',
      correlationId: request.id,
      causationId: request.id,
    } as const;
    const key = keyOf(request);
    const policy = this.inputs.policyFor(configuration.config.guardrails);
    const given = await this.inputs.check(policy, value, CHECK_MS_MAX);
    const delivery = { agentId, ownerId, key, ...storedAs(given, input, value), value };
    const { taskId, replayed, position } = await this.commands.execute(new AcceptDelivery(delivery, cause));
    if (replayed) void reply.header('Idempotent-Replayed', 'true');
    answerPosition(reply, position);
    return { success: true, task_id: taskId };
  }
}

/** The text to store: the original one if guardrails mask nothing. */
function storedAs(given: Given<unknown>, input: string, value: unknown): Pick<Delivery, 'input' | 'checked'> {
  const { checked } = given;
  const stored = given.isBlocked ? JSON.stringify(WITHHELD) : given.value === value ? input : JSON.stringify(given.value);
  return { input: stored, ...(checked && { checked }) };
}

/** An empty key counts as no key. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = [headers['idempotency-key']].flat()[0];
  if (key !== undefined && key.length > IDEMPOTENCY_KEY_CHARACTERS_MAX) {
    const text = `Idempotency-Key exceeds maximum length of ${IDEMPOTENCY_KEY_CHARACTERS_MAX} characters`;
    throw new Rejection('invalid-request', text);
  }
  return key || undefined;
}
