import type { Sql } from 'postgres';
import { isId } from '../../../kernel/ids.js';
import { SealBroken, type Seals } from '../../../platform/credentials/seals.port.js';
import {
  type EndedSession,
  type ListedSession,
  type LiveSession,
  type NewSession,
  type ProviderLogout,
  type Renewal,
  RENEWAL_MS_MAX,
  Sessions,
  type TakenRefreshToken,
} from './sessions.port.js';

/** The table of sessions. It is not part of a read model, so a rebuild does not change it. */
export const SESSION_TABLE = `
  alter table identity.user_account add column in_admin_group boolean not null default false;
  create table identity.session (
    session_id      uuid primary key,
    user_id         text not null references identity.user_account,
    issuer          text not null,
    issuer_subject  text not null,
    issuer_sid      text,
    generation      integer not null default 0,
    refresh_token   bytea,
    renewing_since  timestamptz,
    client          text,
    started_at      timestamptz not null default now(),
    renewed_at      timestamptz,
    expires_at      timestamptz not null,
    ended_at        timestamptz
  );
  create index session_of_user on identity.session (user_id);
  create index session_of_subject on identity.session (issuer, issuer_subject);
  create index session_of_sid on identity.session (issuer, issuer_sid) where issuer_sid is not null;`;

/** Finds the sessions that expired long ago. */
export const SESSION_EXPIRY_INDEX = 'create index session_by_expiry on identity.session (expires_at);';

/** Maximum number of expired sessions that a sign-in deletes. It adds one, so that the table shrinks with every sign-in. */
export const EXPIRED_PER_SIGN_IN_MAX = 20;

/**
 * A provider repeats a logout that failed half-way. For this time, `endAtProvider` also returns sessions that have ended already.
 */
const ENDED_AGAIN_MS_MAX = 10 * 60_000;

/** Sessions in Postgres. Their refresh tokens are sealed with a key that is not stored in Postgres. */
export class PostgresSessions extends Sessions {
  constructor(
    private readonly sql: Sql,
    private readonly seals: Seals,
  ) {
    super();
  }

  /** Also deletes some sessions, of any user, that expired more than a day ago. */
  async begin({ sessionId, userId, provider, refreshToken, expiresAt, client }: NewSession): Promise<void> {
    await this.sql`delete from identity.session where session_id in (
      select session_id from identity.session where expires_at < now() - interval '1 day'
      order by expires_at limit ${EXPIRED_PER_SIGN_IN_MAX} for update skip locked)`;
    await this.sql`insert into identity.session
      (session_id, user_id, issuer, issuer_subject, issuer_sid, refresh_token, expires_at, client)
      values (${sessionId}, ${userId}, ${provider.issuer}, ${provider.subject}, ${provider.sid},
        ${refreshToken === undefined ? null : this.sealed(sessionId, refreshToken)}, ${expiresAt}, ${client})`;
  }

  async find(sessionId: string): Promise<LiveSession | undefined> {
    if (!isId(sessionId)) return undefined;
    const rows = await this.sql<Row[]>`select ${this.columns()}
      from identity.session join identity.user_account using (user_id)
      where session_id = ${sessionId} and ended_at is null and expires_at > now()`;
    return rows[0] && liveSession(rows[0]);
  }

  async endedAmong(sessionIds: readonly string[]): Promise<readonly string[]> {
    const rows = await this.sql<{ id: string }[]>`select id from unnest(${[...sessionIds]}::uuid[]) as id
      where not exists (select from identity.session where session_id = id and ended_at is null and expires_at > now())`;
    return rows.map(({ id }) => id);
  }

  async listOf(userId: string): Promise<readonly ListedSession[]> {
    return this.sql<ListedSession[]>`select session_id as "sessionId", client, started_at as "startedAt",
        renewed_at as "renewedAt", expires_at as "expiresAt"
      from identity.session where user_id = ${userId} and ended_at is null and expires_at > now() order by started_at desc`;
  }

  /** The update of one row makes sure that only one of two concurrent renewals gets the token. */
  async takeRefreshToken(sessionId: string, generation: number): Promise<TakenRefreshToken> {
    const rows = await this.sql<{ sealed: Uint8Array }[]>`update identity.session set renewing_since = now()
      where session_id = ${sessionId} and generation = ${generation} and refresh_token is not null and ended_at is null
        and (renewing_since is null or renewing_since < now() - ${RENEWAL_MS_MAX} * interval '1 millisecond')
      returning refresh_token as sealed`;
    if (!rows[0]) return (await this.isBeingRenewed(sessionId, generation)) ? 'in-use' : 'none';
    try {
      return { refreshToken: this.seals.open(rows[0].sealed, placeOf(sessionId)) };
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error;
      // It was sealed with an earlier key, so the user has to sign in again.
      await this.settleRefreshToken(sessionId, 'kept');
      return 'none';
    }
  }

  private async isBeingRenewed(sessionId: string, generation: number): Promise<boolean> {
    const rows = await this.sql`select from identity.session
      where session_id = ${sessionId} and generation = ${generation} and refresh_token is not null and ended_at is null`;
    return rows.length > 0;
  }

  async settleRefreshToken(sessionId: string, outcome: 'kept' | 'dropped'): Promise<void> {
    await this.sql`update identity.session
      set renewing_since = null, refresh_token = case when ${outcome === 'kept'} then refresh_token end
      where session_id = ${sessionId}`;
  }

  async renew(sessionId: string, { refreshToken, sid, expiresAt }: Renewal): Promise<LiveSession | undefined> {
    const rows = await this.sql`update identity.session
      set generation = generation + 1, refresh_token = ${this.sealed(sessionId, refreshToken)}, renewing_since = null,
        issuer_sid = coalesce(${sid}, issuer_sid), renewed_at = now(), expires_at = ${expiresAt}
      where session_id = ${sessionId} and ended_at is null returning session_id`;
    return rows.length === 0 ? undefined : this.find(sessionId);
  }

  async end(userId: string, sessionId: string): Promise<EndedSession | undefined> {
    if (!isId(sessionId)) return undefined;
    const rows = await this.sql<EndedSession[]>`update identity.session
      set ended_at = coalesce(ended_at, now()), refresh_token = null
      where session_id = ${sessionId} and user_id = ${userId}
      returning session_id as "sessionId", user_id as "userId"`;
    return rows[0];
  }

  async endAtProvider({ issuer, subject, sid }: ProviderLogout): Promise<readonly EndedSession[]> {
    if (subject === undefined && sid === undefined) return [];
    return this.sql<EndedSession[]>`update identity.session set ended_at = coalesce(ended_at, now()), refresh_token = null
      where issuer = ${issuer} and (ended_at is null or ended_at > now() - ${ENDED_AGAIN_MS_MAX} * interval '1 millisecond')
        and ${subject === undefined ? this.sql`true` : this.sql`issuer_subject = ${subject}`}
        and ${sid === undefined ? this.sql`true` : this.sql`issuer_sid = ${sid}`}
      returning session_id as "sessionId", user_id as "userId"`;
  }

  async setInAdminGroup(userId: string, inAdminGroup: boolean): Promise<void> {
    await this.sql`update identity.user_account set in_admin_group = ${inAdminGroup}
      where user_id = ${userId} and in_admin_group <> ${inAdminGroup}`;
  }

  private columns() {
    return this.sql`session_id as "sessionId", user_id as "userId", session.issuer, issuer_subject as subject, issuer_sid as sid,
      generation, expires_at as "expiresAt", in_admin_group as "inAdminGroup"`;
  }

  private sealed(sessionId: string, refreshToken: string): Buffer {
    return this.seals.seal(refreshToken, placeOf(sessionId));
  }
}

type Row = Omit<LiveSession, 'provider'> & LiveSession['provider'];

const liveSession = ({ issuer, subject, sid, ...session }: Row): LiveSession => ({
  ...session,
  provider: { issuer, subject, sid },
});

const placeOf = (sessionId: string): readonly string[] => ['session', sessionId];
