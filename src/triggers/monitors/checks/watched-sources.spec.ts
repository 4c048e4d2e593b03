import { describe, expect, it } from '@jest/globals';
import type { Given, InputChecks } from '../../../dialogue/answering/guardrails/input-checks.port.js';
import { tracesIn } from '../../../../test/support/traces.js';
import { systemTiming } from '../../../platform/system-timing.js';
import type { WebPages } from '../../../resources/tools/web/web-pages.port.js';
import { PageFailed } from '../../../resources/tools/web/web-pages.port.js';
import { type CheckContext, WatchedSources } from './watched-sources.js';

const PAGE = { type: 'webpage', url: 'https://example.com/' } as const;
const context = { conversationId: 'c1', signal: new AbortController().signal } as CheckContext;

/** Reads a page with guardrails that mask or block texts that contain a secret. */
function looking(read: () => Promise<{ text: string }>, isBlocking: boolean) {
  const found = async (_: string, value: unknown): Promise<Given<unknown>> => {
    if (!String(value).includes('secret')) return { isBlocked: false, value };
    if (isBlocking) return { isBlocked: true, checked: { decisions: [] } };
    return { isBlocked: false, value: String(value).replaceAll('secret', '***') };
  };
  const sources = new WatchedSources({ read } as unknown as WebPages, {} as never, {} as never, systemTiming, {
    found,
  } as unknown as InputChecks);
  return sources.fetch(PAGE, context);
}

describe('the content of a watched source', () => {
  it('is masked before it is compared', async () => {
    expect((await looking(async () => ({ text: 'The secret is out.' }), false)).text).toBe('The *** is out.');
    expect((await looking(async () => ({ text: 'Nothing new.' }), false)).text).toBe('Nothing new.');
  });

  it('counts as a failure if it is blocked', async () => {
    await expect(looking(async () => ({ text: 'The secret is out.' }), true)).rejects.toMatchObject({
      outcome: 'failed',
      message: 'What was found was withheld by a content policy.',
    });
  });

  it('is also masked in error messages', async () => {
    const failing = () => Promise.reject(new PageFailed('No secret page.', true));
    await expect(looking(failing, false)).rejects.toMatchObject({ outcome: 'unreachable', message: 'No *** page.' });
    await expect(looking(failing, true)).rejects.toMatchObject({ message: '[Withheld by a content policy.]' });
  });
});

it('checks leave nothing in the signal of the process', async () => {
  const read = () => Promise.resolve({ text: 'Nothing new.' });
  const failing = () => Promise.reject(new PageFailed('No page.', true));
  for (let check = 0; check < 10; check++) {
    await looking(read, false);
    await looking(failing, false).catch(() => undefined);
  }
  expect(tracesIn(context.signal)).toBe(0);
});
