import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { agentPages } from './pages/agent-pages.js';
import { chatPages } from './pages/chat-pages.js';
import { Ground } from './pages/ground.js';
import { settingsPages } from './pages/settings-pages.js';
import { sharingPages } from './pages/sharing-pages.js';
import { sourcePages } from './pages/source-pages.js';

// The requests of the incumbent's web client, from a browser and another origin. The browser must report no problem, and every
// response must match the reference and contain what the page reads.

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

it('the browser has sent a preflight for every method that pages use', () => {
  expect([...ground.preflights].sort()).toEqual(['DELETE', 'GET', 'PATCH', 'POST', 'PUT']);
});
