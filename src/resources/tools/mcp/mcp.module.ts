import { Module } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Ids } from '../../../kernel/ids.js';
import { KeyValue } from '../../../kernel/key-value.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Timing } from '../../../kernel/timing.js';
import { Config } from '../../../platform/config/config.js';
import { CredentialVault } from '../../../platform/credentials/credential-vault.port.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import { AuthorizationServers } from './authorization-server.js';
import { McpOptions } from './mcp-options.js';
import { McpServers } from './mcp-servers.js';
import { OAuthGrants } from './oauth-grants.js';
import { OAuthHandshakes } from './oauth-handshakes.js';

/** What tools of tool servers rest on: the servers themselves, and the sign-ins at their authorization servers. */
@Module({
  providers: [
    {
      provide: AuthorizationServers,
      inject: [OutgoingHttp, Clock],
      useFactory: (outgoing: OutgoingHttp, clock: Clock) => new AuthorizationServers(outgoing.fetch, () => clock.now()),
    },
    {
      provide: OAuthGrants,
      inject: [Streams, CredentialVault, AuthorizationServers, KeyValue, Clock, Timing, Ids],
      useFactory: (...parts: ConstructorParameters<typeof OAuthGrants>) => new OAuthGrants(...parts),
    },
    {
      provide: McpServers,
      inject: [OutgoingHttp, OAuthGrants],
      useFactory: (outgoing: OutgoingHttp, grants: OAuthGrants) => new McpServers(outgoing.fetch, grants),
    },
    {
      provide: OAuthHandshakes,
      inject: [Streams, CredentialVault, AuthorizationServers, McpServers, Clock],
      useFactory: (...parts: ConstructorParameters<typeof OAuthHandshakes>) => new OAuthHandshakes(...parts),
    },
    {
      provide: McpOptions,
      inject: [Config],
      useFactory: (config: Config) => new McpOptions(config.publicApiBaseUrl ?? null),
    },
  ],
  exports: [McpOptions, McpServers, OAuthGrants, OAuthHandshakes],
})
export class McpModule {}
