import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Handler, Parser } from 'htmlparser2';
import { ATTRIBUTES_MAX, readTags, TURN_CHARACTERS } from './read-tags.policy.js';

/** A handler that records the events. */
function recorder() {
  const events: unknown[] = [];
  const handler: Pick<Handler, 'onopentag' | 'ontext' | 'onclosetag'> = {
    onopentag: (...event) => events.push(['open', ...event]),
    ontext: (text) => events.push(['text', text]),
    onclosetag: (...event) => events.push(['close', ...event]),
  };
  return { events, handler };
}

/** The number of elements with which arrays compare what they are asked to find. */
async function comparedDuring(work: () => Promise<void>): Promise<number> {
  const { indexOf } = Array.prototype;
  let compared = 0;
  Array.prototype.indexOf = function (this: unknown[], ...sought) {
    const at = indexOf.apply(this, sought);
    compared += at < 0 ? this.length : at + 1;
    return at;
  };
  await work().finally(() => (Array.prototype.indexOf = indexOf));
  return compared;
}

const NAMES = 'p div b form a li tr td table svg math foreignObject lineargradient title select option br img x'.split(' ');
const tag = fc
  .tuple(fc.constantFrom('<', '</'), fc.constantFrom(...NAMES), fc.constantFrom('>', '/>', ' a="1" A=2 b>'))
  .map((parts) => parts.join(''));
const markup = fc.array(fc.oneof({ arbitrary: tag, weight: 5 }, fc.constantFrom('text', ' &amp; ', '<!-- x -->', '<', '"')), {
  maxLength: 80,
});

describe('the tags of a text', () => {
  it('are those that the parser alone finds', async () =>
    fc.assert(
      fc.asyncProperty(markup, fc.boolean(), async (parts, xmlMode) => {
        const [expected, read] = [recorder(), recorder()];
        const text = parts.join('');
        new Parser(expected.handler, { xmlMode }).end(text);
        expect(await readTags(text, read.handler, { xmlMode })).toBe(true);
        expect(read.events).toEqual(expected.events);
      }),
    ));

  it.each([false, true])('are closed without a search of all open ones for each (XML: %j)', async (xmlMode) => {
    const closed = 10_000;
    const reading = () => readTags('<div>'.repeat(900) + '</x></p>'.repeat(closed / 2), {}, { xmlMode });
    const compared = await comparedDuring(async () => expect(await reading()).toBe(true));
    expect(compared).toBeLessThan(2 * closed);
  });

  it('are read to one with too many attributes', async () => {
    const withAttributes = (count: number) => `<a ${Array.from({ length: count }, (_, index) => `a${index}=1`).join(' ')}>`;
    const { events, handler } = recorder();
    expect(await readTags(withAttributes(ATTRIBUTES_MAX).repeat(3), handler)).toBe(true);
    expect(events.filter((event) => (event as string[])[0] === 'open')).toHaveLength(3);
    expect(await readTags(withAttributes(20 * ATTRIBUTES_MAX), handler)).toBe(false);
  });

  it('are read in turns with other work', async () => {
    const turns = 20;
    let [others, isRead] = [0, false];
    const reading = readTags('<p>text</p> '.repeat((turns * TURN_CHARACTERS) / 12), {}).finally(() => (isRead = true));
    for (; !isRead; others++) await turn();
    await reading;
    expect(others).toBeGreaterThanOrEqual(turns - 1);
  });
});
