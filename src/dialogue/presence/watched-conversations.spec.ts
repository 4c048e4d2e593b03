import { beforeEach, describe, expect, it } from '@jest/globals';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { TABS_MAX, WatchedConversations, WATCHING_MS } from './watched-conversations.js';

let now = 0;
let watched: WatchedConversations;
beforeEach(() => {
  now = 1_000_000;
  watched = new WatchedConversations(new InProcessKeyValue(), { now: () => new Date(now) });
});

describe('a watched conversation', () => {
  it('has a watcher while any visible tab has reported within the time limit', async () => {
    await watched.report('c1', 'ann', 'tab-1', true);
    now += WATCHING_MS - 1;
    await watched.report('c1', 'ann', 'tab-2', true);
    expect(await watched.watcherOf('c1')).toBe('ann');
    expect(await watched.watcherOf('c2')).toBeUndefined();
    now += 2;
    expect(await watched.watcherOf('c1')).toBe('ann');
    await watched.report('c1', 'ann', 'tab-2', false);
    expect(await watched.watcherOf('c1')).toBeUndefined();
    await watched.report('c1', 'ann', 'tab-1', true);
    now += WATCHING_MS + 1;
    expect(await watched.watcherOf('c1')).toBeUndefined();
  });

  it('keeps only the newest TABS_MAX tabs', async () => {
    for (let tab = 0; tab <= TABS_MAX; tab++) await watched.report('c1', 'ann', `tab-${tab}`, true);
    for (let tab = 1; tab <= TABS_MAX; tab++) await watched.report('c1', 'ann', `tab-${tab}`, false);
    expect(await watched.watcherOf('c1')).toBeUndefined();
  });
});
