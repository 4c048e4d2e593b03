import { describe, expect, it } from '@jest/globals';
import type { Given, InputChecks } from '../../../dialogue/answering/guardrails/input-checks.port.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { WebPages } from '../../../resources/tools/web/web-pages.port.js';
import { PageFailed } from '../../../resources/tools/web/web-pages.port.js';
import { type LookContext, WatchedSources } from './watched-sources.js';

const PAGE = { type: 'webpage', url: 'https://example.com/' } as const;
const context = { conversationId: 'c1', signal: new AbortController().signal } as LookContext;

/** Looks at a page by guardrails that mask, or block, whatever has a secret in it. */
function looking(read: () => Promise<{ text: string }>, isBlocking: boolean) {
  const found = async (_: string, value: unknown): Promise<Given<unknown>> => {
    if (!String(value).includes('secret')) return { isBlocked: false, value };
    if (isBlocking) return { isBlocked: true, checked: { decisions: [] } };
    return { isBlocked: false, value: String(value).replaceAll('secret', '***') };
  };
  const sources = new WatchedSources({ read } as unknown as WebPages, {} as never, {} as never, systemTiming, {
    found,
  } as unknown as InputChecks);
  return sources.look(PAGE, context);
}

describe('what a monitor finds', () => {
  it('is masked before it is compared', async () => {
    expect((await looking(async () => ({ text: 'The secret is out.' }), false)).text).toBe('The *** is out.');
    expect((await looking(async () => ({ text: 'Nothing new.' }), false)).text).toBe('Nothing new.');
  });

  it('counts as a failure where it is blocked', async () => {
    await expect(looking(async () => ({ text: 'The secret is out.' }), true)).rejects.toMatchObject({
      outcome: 'failed',
      message: 'What was found was withheld by a content policy.',
    });
  });

  it('is masked in what is said of a failure', async () => {
    const failing = () => Promise.reject(new PageFailed('No secret page.', true));
    await expect(looking(failing, false)).rejects.toMatchObject({ outcome: 'unreachable', message: 'No *** page.' });
    await expect(looking(failing, true)).rejects.toMatchObject({ message: '[Withheld by a content policy.]' });
  });
});
