import { Module } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { Commands } from '../../../kernel/commands.js';
import { Ids } from '../../../kernel/ids.js';
import { KeyValue } from '../../../kernel/messaging/key-value.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { Timing } from '../../../kernel/timing.js';
import { Config } from '../../../platform/config/config.js';
import { CredentialVault } from '../../../platform/credentials/credential-vault.port.js';
import { OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';
import { AuthorizationServers } from './authorization-server.js';
import { McpOptions } from './mcp-options.js';
import { McpServers } from './mcp-servers.js';
import { oauthHandlers } from './sign-in/oauth.commands.js';
import { OAuthGrants } from './oauth-grants.js';
import { OAuthHandshakes } from './oauth-handshakes.js';
import { ExpiringQueries } from '../../../../projections/expiring/expiring.queries.js';
import { IdentityModule } from '../../identity/identity.module.js';
import { ToolsModule } from '../tools.module.js';
import { FailSignIns } from './sign-in/fail-sign-ins.js';
import { McpServerController } from './mcp-server.http.js';
import { PurgeSignInSecrets } from './sign-in/purge-sign-in-secrets.reaction.js';
import { McpTool } from './mcp-tool.js';
import { signInNotifications } from './sign-in/oauth.notifications.js';

const REACTIONS = [PurgeSignInSecrets];
const RETENTION = [FailSignIns];
const TOOL_KINDS = [McpTool];

/** Tool servers, and the sign-ins at their authorization servers. */
@Module({
  imports: [IdentityModule, ToolsModule],
  controllers: [McpServerController],
  providers: [
    ...REACTIONS,
    ...TOOL_KINDS,
    ...oauthHandlers,
    ExpiringQueries,
    {
      provide: FailSignIns,
      inject: [ExpiringQueries, Commands, Clock],
      useFactory: (...parts: [ExpiringQueries, Commands, Clock]) => new FailSignIns(...parts),
    },
    {
      provide: AuthorizationServers,
      inject: [OutgoingHttp, Clock],
      useFactory: (outgoing: OutgoingHttp, clock: Clock) => new AuthorizationServers(outgoing.fetch, () => clock.now()),
    },
    {
      provide: OAuthGrants,
      inject: [Streams, Commands, CredentialVault, AuthorizationServers, KeyValue, Clock, Timing, Ids],
      useFactory: (...parts: ConstructorParameters<typeof OAuthGrants>) => new OAuthGrants(...parts),
    },
    {
      provide: McpServers,
      inject: [OutgoingHttp, OAuthGrants],
      useFactory: (outgoing: OutgoingHttp, grants: OAuthGrants) => new McpServers(outgoing.fetch, grants),
    },
    {
      provide: OAuthHandshakes,
      inject: [Streams, Commands, CredentialVault, AuthorizationServers, McpServers],
      useFactory: (...parts: ConstructorParameters<typeof OAuthHandshakes>) => new OAuthHandshakes(...parts),
    },
    {
      provide: McpOptions,
      inject: [Config],
      useFactory: (config: Config) => new McpOptions(config.publicApiBaseUrl ?? null),
    },
  ],
  exports: [...REACTIONS, ...RETENTION, ...TOOL_KINDS],
})
export class McpModule {
  static readonly reactions = REACTIONS;
  static readonly retention = RETENTION;
  static readonly toolKinds = TOOL_KINDS;
  static readonly notifications = signInNotifications;
}
