import { type BeforeApplicationShutdown, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AgentsModule } from '../../resources/agents/agents.module.js';
import { Config } from '../../platform/config/config.js';
import { SourcesModule } from '../../resources/sources/sources.module.js';
import { DemoSeeding } from './demo-seeding.js';
import { SeedDemo } from './seed-demo.js';

/** A demo agent for a fresh installation. Processes with the role `api` create it, because they print how to ask it. */
@Module({ imports: [AgentsModule, SourcesModule], providers: [SeedDemo, DemoSeeding], exports: [DemoSeeding] })
export class DemoModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    private readonly seeding: DemoSeeding,
    private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.seedDemo && this.config.roles.includes('api')) this.seeding.start();
    else this.seeding.stop();
  }

  beforeApplicationShutdown(): void {
    this.seeding.stop();
  }
}
