import type { FastifyRequest } from 'fastify';
import type { AgentQueries, AgentRecord } from '../../../projections/agents/agents.queries.js';
import { webhookTokenHash } from '../../resources/agents/webhook-token.policy.js';
import type { WrongCredentials } from '../../resources/identity/client-limits.port.js';
import { Rejection } from '../../kernel/rejection.js';

const WEBHOOK_PATH = /^\/api\/webhooks\/agents\/([^/?]+)\/?(?:\?|$)/;

type ToWebhook = FastifyRequest & { webhookAgent?: AgentRecord };

/** The agent whose webhook was called. @throws Rejection agent-not-found */
export function webhookAgentOf(request: FastifyRequest): AgentRecord {
  const { webhookAgent } = request as ToWebhook;
  if (!webhookAgent) throw agentNotFound();
  return webhookAgent;
}

/**
 * A hook that looks up the agent before the body is read, so that a caller without a valid token learns nothing and cannot send a
 * large body.
 */
export const findWebhook =
  (agents: AgentQueries, wrong: WrongCredentials, bodyBytesMax: number) =>
  async (request: FastifyRequest): Promise<void> => {
    const token = WEBHOOK_PATH.exec(request.url)?.[1];
    if (token === undefined || request.method === 'OPTIONS') return;
    const agent = await agents.byWebhookHash(webhookTokenHash(token));
    if (!agent) {
      await wrong.count(request);
      throw agentNotFound();
    }
    (request as ToWebhook).webhookAgent = agent;
    if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge(bodyBytesMax);
  };

export const tooLarge = (bytesMax: number) => new Rejection('too-large', `A delivery must not be larger than ${bytesMax} bytes.`);

const agentNotFound = () => new Rejection('agent-not-found', 'Agent not found');
