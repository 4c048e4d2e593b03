import { expect, it } from '@jest/globals';

import { type EventStore } from '../../src/kernel/event-sourcing/event-store.js';
import { eventsOf, Following, newCategory, newEvent, newStream, readLog, type Subject } from './event-store.subject.js';

/** JSON texts that are easily changed on the way to a store and back. */
const TEXTS: readonly (readonly [string, string])[] = [
  ['accents and other scripts', '{"text":"Grüße, 你好, שלום, \u0928\u092e\u0938\u094d\u0924\u0947"}'],
  ['emoji, joined and coloured', '{"text":"😀 👩‍👩‍👧 🏳️‍🌈 👍🏽"}'],
  ['composed and decomposed letters', '["\u00e9","e\u0301"]'],
  ['escaped lone surrogates', '{"text":"\\ud800 \\udc00 \\uDBFF"}'],
  ['an escaped pair of surrogates', '"\\ud83d\\ude00"'],
  ['an escaped NUL', '{"text":"a\\u0000b"}'],
  ['all escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u001f\\u007F"'],
  ['line and paragraph separators', '"\u2028\u2029\u0085"'],
  ['a byte order mark within a text', '"\ufeffx\ufeff"'],
  ['the last characters of the planes', '"\uffff\ufffe\u{10ffff}"'],
  ['keys in an unsorted order', '{"b":1,"a":2,"B":3,"":4}'],
  ['keys that look like integers', '{"10":"ten","9":"nine","x":0,"1":"one"}'],
  ['a duplicate key', '{"a":1,"a":2,"__proto__":{"a":3}}'],
  ['whitespace', ' \t{ "a" :\r\n [ 1 ,2 ] }\n'],
  ['numbers that are not doubles', '[1e400,-1E400,12345678901234567890,0.1000000000000000055511151231257827]'],
  ['numbers in odd notations', '[1.0,1.50,-0,-0.0,1e2,1E+2,0e0]'],
  ['a bare string', '"text"'],
  ['a bare null', 'null'],
  ['deep nesting', `${'['.repeat(500)}${']'.repeat(500)}`],
  ['half a megabyte', `{"text":"${'ä😀x'.repeat(75_000)}"}`],
];

export function payloadsContract(subject: () => Subject): void {
  const store = (): EventStore => subject().store;

  it.each(TEXTS)('returns data and metadata byte for byte: %s', async (_, text) => {
    const category = newCategory();
    const stream = newStream(category);
    const asData = newEvent({ data: text });
    const asMetadata = newEvent({ metadata: text });
    const after = await store().head();
    await store().append(stream, 'none', [asData]);
    await store().append(stream, 0, [asMetadata]);
    const ways = {
      read: await eventsOf(store().read(stream)),
      back: (await eventsOf(store().read(stream, { direction: 'backwards' }))).reverse(),
      log: (await readLog(store(), undefined, { categories: [category] })).events,
      followed: (await (await new Following(store(), after, { categories: [category] }).count(2)).stop()).events,
    };
    for (const [way, events] of Object.entries(ways)) {
      expect({ way, events: events.map(({ data, metadata }) => [data, metadata]) }).toEqual({
        way,
        events: [
          [text, asData.metadata],
          [asMetadata.data, text],
        ],
      });
    }
  });

  it('keeps types and stream names unchanged', async () => {
    const stream = newStream();
    const types = ['Größe geändert', 'With "quotes"', '😀', 'a'.repeat(200)];
    await store().append(
      stream,
      'none',
      types.map((type) => newEvent({ type })),
    );
    expect((await eventsOf(store().read(stream))).map(({ type }) => type)).toEqual(types);
    const odd = `${newCategory()}-ä/ö?x=1&y=%20 😀 \\"\n\t`;
    await store().append(odd, 'none', [newEvent()]);
    expect((await eventsOf(store().read(odd))).map((event) => event.stream)).toEqual([odd]);
  });
}
