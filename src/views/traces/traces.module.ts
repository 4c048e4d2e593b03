import { Module } from '@nestjs/common';
import { TraceQueries } from '../../../projections/traces/traces.queries.js';
import { Config } from '../../platform/config/config.js';
import { ExpireTraces } from './expire-traces.js';
import { ExpireTracesBeforeHandler } from './expired-traces.commands.js';
import { TracesController } from './traces.http.js';
import { TracesOptions } from './traces-options.js';

const RETENTION = [ExpireTraces];

@Module({
  controllers: [TracesController],
  providers: [
    TraceQueries,
    ExpireTracesBeforeHandler,
    ...RETENTION,
    {
      provide: TracesOptions,
      inject: [Config],
      useFactory: (config: Config): TracesOptions => ({ retentionMs: config.tracesRetentionSeconds * 1000 }),
    },
  ],
  exports: [...RETENTION],
})
export class TracesModule {
  static readonly retention = RETENTION;
}
