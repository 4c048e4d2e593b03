import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ExpiringQueries, OldOutput } from '../../../../../projections/expiring/expiring.queries.js';
import {
  type AuthorizationServerForTests,
  authorizationServerForTests,
} from '../../../../../test/support/authorization-server.js';
import { mcpToolForTests, type McpToolForTests } from '../../../../../test/support/mcp-tool.js';
import { decode } from '../../../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../../../kernel/event-sourcing/events.js';
import { FailSignIns, SIGN_IN_GRACE_MS } from './fail-sign-ins.js';
import { PurgeSignInSecrets } from './purge-sign-in-secrets.reaction.js';
import { HANDSHAKE_TTL_MS } from '../oauth-handshakes.js';
import { oauthCodec } from './oauth.codec.js';
import { type OAuthHandshakeFailed, oauthStream } from './oauth.events.js';

let server: AuthorizationServerForTests;
let kit: McpToolForTests;
let now: Date;
let dueBefore: Date | undefined;
let rule: FailSignIns;
beforeEach(async () => {
  server = await authorizationServerForTests();
  now = new Date();
  kit = mcpToolForTests(undefined, () => now);
  const signIns = (before: Date): Promise<readonly OldOutput[]> => {
    dueBefore = before;
    return Promise.resolve([]);
  };
  rule = new FailSignIns({ signIns } as unknown as ExpiringQueries, kit.commands, { now: () => now });
});
afterEach(async () => {
  await kit.close();
  await server.close();
});

const start = () =>
  kit.handshakes.start({
    ...{ ownerId: 'alice', serverUrl: server.url, scopes: [], client: null, cause: kit.cause },
    redirectUrl: 'https://service.example/api/mcp_server/callback',
  });
const later = (ms: number) => (now = new Date(now.getTime() + ms));
const giveUp = (id: string) => rule.purge([{ id, since: now }], kit.cause);
const last = async (id: string) => decode(oauthCodec, (await lastEvent(kit.store, oauthStream(id)))!)!;

it('a sign-in from which the user did not return fails after a grace period, and its secrets are deleted', async () => {
  const [{ id }, other] = [await start(), await start()];
  later(HANDSHAKE_TTL_MS + SIGN_IN_GRACE_MS - 1);
  await giveUp(id);
  expect((await last(id)).type).toBe('OAuthSignInAwaited');
  later(1);
  await rule.due(now, 10);
  expect(dueBefore).toEqual(new Date(now.getTime() - SIGN_IN_GRACE_MS));
  await giveUp(id);
  await giveUp(id);
  const failed = (await last(id)) as Recorded<OAuthHandshakeFailed>;
  expect(failed.data.reason).toBe('This sign-in took too long. Please start again.');
  const reaction = new PurgeSignInSecrets(kit.store, kit.vault);
  await reaction.on.OAuthHandshakeFailed(failed);
  await reaction.on.OAuthHandshakeFailed(failed);
  expect([...kit.vault.rows.keys()]).toEqual([other.pendingId]);
});

it('a sign-in that is finished while it fails keeps no tokens in the vault', async () => {
  const { id, authorizationUrl } = await start();
  const location = await server.approve(authorizationUrl);
  const keep = kit.vault.keep.bind(kit.vault);
  kit.vault.keep = async (...kept) => {
    later(HANDSHAKE_TTL_MS + SIGN_IN_GRACE_MS);
    await giveUp(id);
    return keep(...kept);
  };
  const back = Object.fromEntries(new URL(location).searchParams) as { state: string };
  expect(await kit.handshakes.finish({ ...back, cause: kit.cause })).toMatchObject({ status: 'failed' });
  expect(kit.vault.rows.size).toBe(0);
});
