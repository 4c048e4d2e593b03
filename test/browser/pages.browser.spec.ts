import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { agentPages } from './pages/agent-pages.js';
import { chatPages } from './pages/chat-pages.js';
import { Ground } from './pages/ground.js';
import { settingsPages } from './pages/settings-pages.js';
import { sharingPages } from './pages/sharing-pages.js';
import { sourcePages } from './pages/source-pages.js';

// What the pages of the incumbent's web client ask, by a browser and from another origin: the browser has nothing to complain of,
// every answer is as the reference says, and holds what the page reads of it.

let ground: Ground;
beforeAll(async () => {
  ground = await Ground.open({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
});
afterAll(() => ground?.close());
beforeEach(() => ground.world.model.reset());
afterEach(async () => expect(await ground.web.allProblems()).toEqual([]));

chatPages(() => ground);
agentPages(() => ground);
sourcePages(() => ground);
settingsPages(() => ground);
sharingPages(() => ground);

it('the browser has asked leave for every method that pages use', () => {
  expect([...ground.preflights].sort()).toEqual(['DELETE', 'GET', 'PATCH', 'POST', 'PUT']);
});
