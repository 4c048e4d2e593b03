import { describe, expect, it } from '@jest/globals';
import { admin, alice, key, NO_CALLER, refused } from '../../../test/support/callers.js';
import type { Act } from './acts.policy.js';

describe('an artifact', () => {
  const began = { status: 'open', ownerId: 'alice', agentId: 'a1', agentKeyId: 'k1' } as const;
  const within = { conversationId: 'c1', began };
  const artifact = { ownerId: 'alice', conversationId: 'c1' };
  const act = (
    does: 'read-artifact' | 'change-artifact',
    more: Partial<Extract<Act, { does: 'read-artifact' | 'change-artifact' }>> = {},
  ): Act => ({
    does,
    artifact,
    within: undefined,
    ...more,
  });

  it('is read and changed by its owner, and not found for others', () => {
    for (const does of ['read-artifact', 'change-artifact'] as const) {
      expect(refused(alice, act(does))).toBe('allowed');
      expect(refused({ ...alice, userId: 'bob' }, act(does, { within }))).toEqual([404, 'not-found']);
      expect(refused(admin, act(does))).toEqual([404, 'not-found']);
      expect(refused(alice, act(does, { artifact: undefined }))).toEqual([404, 'not-found']);
      expect(refused(undefined, act(does))).toEqual(NO_CALLER);
    }
  });

  it('is read, but not changed, with a key of the conversation’s agent if the request names the conversation', () => {
    expect(refused(key, act('read-artifact', { within }))).toBe('allowed');
    expect(refused(key, act('change-artifact', { within }))).toEqual([403, 'not-allowed']);
    const others = [
      undefined,
      { conversationId: 'c2', began },
      { conversationId: 'c1', began: undefined },
      { conversationId: 'c1', began: { ...began, agentId: 'a2' } },
      { conversationId: 'c1', began: { ...began, agentKeyId: null } },
    ];
    for (const named of others) {
      expect(refused(key, act('read-artifact', { within: named }))).toEqual([404, 'not-found']);
      expect(refused(key, act('change-artifact', { within: named }))).toEqual([404, 'not-found']);
    }
    const ofRun = { ...artifact, conversationId: null };
    expect(refused(key, act('read-artifact', { artifact: ofRun, within }))).toEqual([404, 'not-found']);
  });

  it('is read, but not changed, with a link that shows the turn that made it', () => {
    const shown = { conversationId: 'c1', turnIds: ['t1', 't2'] };
    const made = (messageId: string | null, conversationId = 'c1') => ({ ownerId: 'alice', conversationId, messageId });
    const mallory = { ...alice, userId: 'mallory' };
    for (const who of [undefined, mallory]) {
      expect(refused(who, act('read-artifact', { artifact: made('t2'), shown }))).toBe('allowed');
      for (const other of [made('t3'), made(null), made('t1', 'c2'), undefined])
        expect(refused(who, act('read-artifact', { artifact: other, shown }))).toEqual([404, 'not-found']);
      expect(refused(who, act('change-artifact', { artifact: made('t2'), shown }))).toEqual([404, 'not-found']);
      expect(refused(who, act('read-artifact', { artifact: made('t2'), shown: null }))).toEqual([404, 'not-found']);
      const listing = (of: Extract<Act, { does: 'list-artifacts' }>['of']) => refused(who, { does: 'list-artifacts', of, shown });
      expect(listing(within)).toBe('allowed');
      for (const other of ['owner', 'workflow-run', { conversationId: 'c2', began }] as const) {
        const refusal = who ? [403, 'not-allowed'] : [404, 'not-found'];
        expect(listing(other)).toEqual(who && typeof other === 'string' ? 'allowed' : refusal);
      }
    }
  });

  it('is listed with its conversation for the parties of the conversation, and otherwise for its owner', () => {
    const listing = (of: Extract<Act, { does: 'list-artifacts' }>['of']): Act => ({ does: 'list-artifacts', of });
    for (const each of [within, 'workflow-run', 'owner'] as const) expect(refused(alice, listing(each))).toBe('allowed');
    expect(refused({ ...alice, userId: 'bob' }, listing(within))).toEqual([403, 'not-allowed']);
    expect(refused(alice, listing({ conversationId: 'c1', began: undefined }))).toEqual([403, 'not-allowed']);
    expect(refused(key, listing(within))).toBe('allowed');
    for (const each of ['workflow-run', 'owner'] as const) expect(refused(key, listing(each))).toEqual([403, 'not-allowed']);
    expect(refused(undefined, listing('owner'))).toEqual(NO_CALLER);
  });
});
