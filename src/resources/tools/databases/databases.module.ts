import { Module } from '@nestjs/common';
import { Config } from '../../../platform/config/config.js';
import { ForeignDatabases } from './foreign-database.port.js';
import { GuardedDatabases } from './guarded-databases.js';
import { PostgresTool } from './postgres-tool.js';

const TOOL_KINDS = [PostgresTool];

/** Tools that query databases of users. */
@Module({
  providers: [
    ...TOOL_KINDS,
    {
      provide: ForeignDatabases,
      inject: [Config],
      useFactory: ({ allowedPrivateHosts }: Config) => new GuardedDatabases({ privateHosts: allowedPrivateHosts }),
    },
  ],
  exports: TOOL_KINDS,
})
export class DatabasesModule {
  static readonly toolKinds = TOOL_KINDS;
}
