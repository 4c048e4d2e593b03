import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { AnsweringModule } from '../../dialogue/answering/answering.module.js';
import { IdentityModule } from '../../resources/identity/identity.module.js';
import { WrongCredentials } from '../../resources/identity/client-limits.port.js';
import { Config } from '../../platform/config/config.js';
import { ExpiringQueries } from '../../../projections/expiring/expiring.queries.js';
import { RunsModule } from '../../background/runs/runs.module.js';
import { Runs } from '../../background/runs/runs.port.js';
import { AcceptDeliveryHandler, PurgeDeliveriesHandler } from './delivery.commands.js';
import { deliveryPurges } from './delivery.purges.js';
import { PurgeWebhookRuns } from './purge-webhook-runs.js';
import { findWebhook } from './webhook-lookup.http.js';
import { RunDeliveries } from './run-deliveries.reaction.js';
import { WebhookOptions } from './webhook-options.js';
import { WebhooksController } from './webhooks.http.js';
import { TruncateDeliveries } from './truncate-deliveries.reaction.js';

const REACTIONS = [RunDeliveries, TruncateDeliveries];
const RETENTION = [PurgeWebhookRuns];

/** Deliveries to agents' webhooks: accepted in one append, then run in headless mode. */
@Module({
  imports: [AnsweringModule, IdentityModule, RunsModule],
  controllers: [WebhooksController],
  providers: [
    ...REACTIONS,
    AgentQueries,
    ExpiringQueries,
    AcceptDeliveryHandler,
    PurgeDeliveriesHandler,
    {
      provide: PurgeWebhookRuns,
      inject: [Config, ExpiringQueries, Runs],
      useFactory: ({ tracesRetentionSeconds, idempotencyTtlMs }: Config, expiring: ExpiringQueries, runs: Runs) =>
        // A delivery is needed as long as its key is valid.
        new PurgeWebhookRuns(expiring, runs, Math.max(1000 * tracesRetentionSeconds, idempotencyTtlMs)),
    },
    {
      provide: WebhookOptions,
      inject: [Config],
      useFactory: ({ webhookBodyBytesMax, idempotencyTtlMs: ttlMs, webhookKeyMismatch: mismatch }: Config) =>
        new WebhookOptions(webhookBodyBytesMax, { ttlMs, mismatch }),
    },
  ],
  exports: [...REACTIONS, ...RETENTION],
})
export class WebhooksModule implements OnModuleInit {
  static readonly reactions = REACTIONS;
  static readonly retention = RETENTION;
  static readonly purges = deliveryPurges;

  constructor(
    private readonly agents: AgentQueries,
    private readonly wrongCredentials: WrongCredentials,
    private readonly options: WebhookOptions,
    private readonly host: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance | undefined>();
    fastify?.addHook('onRequest', findWebhook(this.agents, this.wrongCredentials, this.options.bodyBytesMax));
  }
}
