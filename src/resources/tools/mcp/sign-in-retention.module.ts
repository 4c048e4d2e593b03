import { Module, type OnModuleInit } from '@nestjs/common';
import { ExpiringQueries } from '../../../../projections/expiring/expiring.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { RetentionModule } from '../../../work/retention/retention.module.js';
import { RetentionRules } from '../../../work/retention/retention-rule.port.js';
import { FailSignIns } from './fail-sign-ins.js';
import { ForgetSignInSecrets } from './forget-sign-in-secrets.reaction.js';

/** Of sign-ins at tool servers nothing secret is kept longer than it is needed. */
@Module({
  imports: [RetentionModule],
  providers: [
    ForgetSignInSecrets,
    {
      provide: FailSignIns,
      inject: [ExpiringQueries, Streams, Clock],
      useFactory: (...parts: [ExpiringQueries, Streams, Clock]) => new FailSignIns(...parts),
    },
  ],
  exports: [ForgetSignInSecrets],
})
export class SignInRetentionModule implements OnModuleInit {
  constructor(
    private readonly retention: RetentionRules,
    private readonly signIns: FailSignIns,
  ) {}

  onModuleInit(): void {
    this.retention.add(this.signIns);
  }
}
