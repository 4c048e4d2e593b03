import { Module } from '@nestjs/common';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { Config } from '../../../platform/config/config.js';
import { GuardedDatabases } from '../databases/guarded-databases.js';
import { SourcesModule } from '../../sources/sources.module.js';
import { ForeignDatabases } from '../databases/foreign-database.port.js';

/** What the kinds of tools that come with the service need. */
@Module({
  imports: [SourcesModule],
  providers: [
    SourceQueries,
    {
      provide: ForeignDatabases,
      inject: [Config],
      useFactory: ({ allowedPrivateHosts }: Config) => new GuardedDatabases({ privateHosts: allowedPrivateHosts }),
    },
  ],
  exports: [SourcesModule, SourceQueries, ForeignDatabases],
})
export class BuiltinModule {}
