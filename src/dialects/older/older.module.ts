import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { OlderForm } from '../../dialogue/answering/intake/older-form.port.js';
import { AgentsModule } from '../../resources/agents/agents.module.js';
import { GuardrailsModule } from '../../resources/guardrails/guardrails.module.js';
import { PromptsModule } from '../../resources/prompts/prompts.module.js';
import { SourcesModule } from '../../resources/sources/sources.module.js';
import { ApiKeysController } from './api-keys.http.js';
import { DocsCheckController } from './docs-check.http.js';
import { NamedSources } from './named-sources.js';
import { OlderAnswers } from './older-answers.js';
import { olderRejections } from './older.rejections.js';
import { ProviderAnswers } from './provider-answers.js';
import { ProviderKeys } from './provider-keys.js';

/** The interface of older clients, which do not know agents. */
@Module({
  imports: [AgentsModule, GuardrailsModule, PromptsModule, SourcesModule],
  controllers: [ApiKeysController, DocsCheckController],
  providers: [
    AgentQueries,
    SourceQueries,
    NamedSources,
    ProviderAnswers,
    ProviderKeys,
    { provide: OlderForm, useClass: OlderAnswers },
  ],
})
export class OlderModule implements OnModuleInit {
  static readonly rejections = olderRejections;

  constructor(
    private readonly keys: ProviderKeys,
    private readonly host: HttpAdapterHost,
  ) {}

  onModuleInit() {
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance | undefined>();
    fastify?.addHook('preHandler', (request: FastifyRequest & { identity?: Readonly<{ user?: unknown }> }) =>
      this.keys.take(request, request.identity?.user !== undefined),
    );
  }
}
