import { type BeforeApplicationShutdown, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AgentsModule } from '../../resources/agents/agents.module.js';
import { Config } from '../../platform/config/config.js';
import { SourcesModule } from '../../resources/sources/sources.module.js';
import { DemoSeeding } from './demo-seeding.js';
import { SeedDemo } from './seed-demo.js';

/** Something to ask on a fresh installation. Processes that take questions see to it: they can say how it is asked. */
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
