import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { AgentQueries } from '../../projections/agents/agents.queries.js';
import { Config } from '../platform/config/config.js';
import { RunsModule } from '../runs/runs.module.js';
import { AcceptDeliveryHandler } from './accept-delivery.command.js';
import { findWebhook } from './known-webhooks.http.js';
import { RunDeliveries } from './run-deliveries.reaction.js';
import { WebhookOptions } from './webhook-options.js';
import { WebhooksController } from './webhooks.http.js';

/** Deliveries to agents' webhooks: accepted in one append, then run with nobody watching. */
@Module({
  imports: [RunsModule],
  controllers: [WebhooksController],
  providers: [
    AgentQueries,
    AcceptDeliveryHandler,
    RunDeliveries,
    {
      provide: WebhookOptions,
      inject: [Config],
      useFactory: ({ webhookBodyBytesMax, idempotencyTtlMs: ttlMs, webhookKeyMismatch: mismatch }: Config) =>
        new WebhookOptions(webhookBodyBytesMax, { ttlMs, mismatch }),
    },
  ],
  exports: [RunDeliveries],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly agents: AgentQueries,
    private readonly options: WebhookOptions,
    private readonly host: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance | undefined>();
    fastify?.addHook('onRequest', findWebhook(this.agents, this.options.bodyBytesMax));
  }
}
