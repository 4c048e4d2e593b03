import { Module, type OnModuleInit } from '@nestjs/common';
import { RetentionModule } from '../../../work/retention/retention.module.js';
import { RetentionRules } from '../../../work/retention/retention-rule.port.js';
import { Continuations } from '../loop/continuations.js';
import { DropContinuations } from './drop-continuations.js';

/** What paused turns go on from is kept as long as they may. */
@Module({
  imports: [RetentionModule],
  providers: [Continuations, DropContinuations],
})
export class ContinuationRetentionModule implements OnModuleInit {
  constructor(
    private readonly retention: RetentionRules,
    private readonly continuations: DropContinuations,
  ) {}

  onModuleInit(): void {
    this.retention.add(this.continuations);
  }
}
