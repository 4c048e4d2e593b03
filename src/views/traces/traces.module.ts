import { Module } from '@nestjs/common';
import { TraceQueries } from '../../../projections/traces/traces.queries.js';
import { Config } from '../../platform/config/config.js';
import { TracesController } from './traces.http.js';
import { TracesOptions } from './traces-options.js';

@Module({
  controllers: [TracesController],
  providers: [
    TraceQueries,
    {
      provide: TracesOptions,
      inject: [Config],
      useFactory: (config: Config): TracesOptions => ({ retentionMs: config.tracesRetentionSeconds * 1000 }),
    },
  ],
})
export class TracesModule {}
