import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JSON_LIMITS, type JsonLimits, JsonMeter, parseBoundedJson } from './bounded-json.js';

const refusal = (text: string, limits: Partial<JsonLimits> = {}, cut = text.length): unknown => {
  const meter = new JsonMeter('It', { ...JSON_LIMITS, ...limits });
  const bytes = Buffer.from(text);
  try {
    for (let from = 0; from < bytes.length; from += Math.max(1, cut)) meter.read(bytes.subarray(from, from + Math.max(1, cut)));
    return undefined;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  }
};

const tooMany = (entries: number) => `too-large: It holds more than ${entries} fields of objects and elements of arrays.`;

/** The number of object fields and array elements on all levels. */
function entriesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + 1 + entriesIn(each), 0);
}

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe('the meter of a JSON text', () => {
  const spaced = fc
    .tuple(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'))
    .map(([value, space]) => JSON.stringify(value, null, space));

  it('gives the same result however the text is split into chunks', () =>
    fc.assert(
      fc.property(spaced, fc.integer({ min: 1, max: 70 }), (text, cut) => {
        const value: unknown = JSON.parse(text);
        const [entriesMax, depthMax] = [entriesIn(value), depthOf(value)];
        expect(refusal(text, { entriesMax, depthMax }, cut)).toBeUndefined();
        if (entriesMax > 0) expect(refusal(text, { entriesMax: entriesMax - 1 }, cut)).toBe(tooMany(entriesMax - 1));
        if (depthMax > 0)
          expect(refusal(text, { depthMax: depthMax - 1 }, cut)).toBe(
            `invalid-request: It is nested deeper than ${depthMax - 1} levels.`,
          );
      }),
    ));

  it.each([
    ['fields', (entries: number) => `{${Array.from({ length: entries }, (_, index) => `"k${index}":1`).join()}}`],
    [
      'the same field, again and again',
      (entries: number) => `{${Array.from({ length: entries }, () => '"__proto__":{}').join()}}`,
    ],
    ['elements', (entries: number) => `[${Array.from({ length: entries }, () => 0).join()}]`],
    ['empty objects', (entries: number) => `[${Array.from({ length: entries }, () => '{}').join(' , ')}]`],
    ['fields of fields', (entries: number) => `{"a":{"b":{${Array.from({ length: entries - 2 }, () => '"c":[]').join()}}}}`],
    ['objects with a field each', (entries: number) => `[${Array.from({ length: entries / 2 }, () => '{"a":1}').join()}]`],
  ])('counts %s up to the limit', (_, textOf) => {
    expect(refusal(textOf(10), { entriesMax: 10 })).toBeUndefined();
    expect(refusal(textOf(12), { entriesMax: 10 })).toBe(tooMany(10));
  });

  it('finds the end of strings of any length with any escapes', () =>
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('\\', '"', ',', 'xxxxxxxxxxxxxxxxxxxxxxxx'), maxLength: 12 })),
        fc.integer({ min: 1, max: 700 }),
        (strings, cut) => {
          const [entriesMax, escapesMax] = [strings.length, strings.join('').replaceAll(/[^\\"]/g, '').length];
          expect(refusal(JSON.stringify(strings), { entriesMax, escapesMax, depthMax: 1 }, cut)).toBeUndefined();
          if (escapesMax > 0)
            expect(refusal(JSON.stringify(strings), { escapesMax: escapesMax - 1 }, cut)).toMatch(/escaped characters/);
        },
      ),
    ));

  it('searches a chunk for backslashes once, however many strings it has', () => {
    let searches = 0;
    const bytes = Buffer.from(JSON.stringify(Array.from({ length: 1_000 }, () => 'x'.repeat(100))));
    const search = bytes.indexOf.bind(bytes);
    bytes.indexOf = (byte, from) => {
      if (byte === 0x5c) searches++;
      return search(byte, from as number);
    };
    new JsonMeter('It').read(bytes);
    expect(searches).toBe(1);
  });

  it('does not count the content of strings', () => {
    const text = JSON.stringify({ ',[{":\\': '],}"\\'.repeat(1_000) });
    for (const cut of [1, 2, 3, 50, 64, text.length]) expect(refusal(text, { entriesMax: 1, depthMax: 1 }, cut)).toBeUndefined();
  });

  it('recognises keys by the colon after them and limits their length', () => {
    const [short, long] = ['k'.repeat(100), 'k'.repeat(101)];
    const refused = 'too-large: It holds a key of more than 100 bytes.';
    for (const cut of [1, 7, 101, 1_000]) {
      expect(refusal(`{"${short}" : "${long}"}`, { keyBytesMax: 100 }, cut)).toBeUndefined();
      expect(refusal(`{"${long}" : 1}`, { keyBytesMax: 100 }, cut)).toBe(refused);
    }
  });

  it('counts escaped characters', () => {
    const [few, many] = [String.raw`\n\"\\\u0041`, String.raw`\n\"\\\u0041\t`];
    const refused = 'too-large: It holds more than 4 escaped characters.';
    for (const cut of [1, 2, 100]) {
      expect(refusal(`["${few}"]`, { escapesMax: 4 }, cut)).toBeUndefined();
      expect(refusal(`["${many}"]`, { escapesMax: 4 }, cut)).toBe(refused);
    }
  });

  it('counts bytes outside of strings', () => {
    const refused = 'too-large: It holds more than 20 bytes outside of strings.';
    for (const cut of [1, 3, 100]) {
      expect(refusal(`{"a b c":${'1'.repeat(16)}}`, { bareBytesMax: 20 }, cut)).toBeUndefined();
      expect(refusal(`{"a b c":${'1'.repeat(17)}}`, { bareBytesMax: 20 }, cut)).toBe(refused);
      expect(refusal(`[ "${'x'.repeat(100)}"${' '.repeat(18)}`, { bareBytesMax: 20 }, cut)).toBe(refused);
    }
  });

  it.each([']', ':', '""', '[]', '{}'])('refuses more %s than the maximum number of entries can have', (mark) => {
    const refused = 'invalid-request: It is not valid JSON.';
    expect(refusal(mark.repeat(6), { entriesMax: 1 })).toBeUndefined();
    expect(refusal(mark.repeat(13), { entriesMax: 1 })).toBe(refused);
  });

  it('accepts a long conversation, a large graph and many functions', () => {
    const history = Array.from({ length: 1_000 }, () => ({ prompt: 'Why?', response: '"Because."\n' }));
    const nodes = Array.from({ length: 200 }, (_, id) => ({
      id,
      data: { config: { a: 1, b: [1, 2, 3] } },
      position: { x: 1, y: 2 },
    }));
    const tools = Array.from({ length: 128 }, (_, id) => ({
      function: {
        name: `f${id}`,
        parameters: { properties: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [n, { type: 'string' }])) },
      },
    }));
    expect(refusal(JSON.stringify({ history, nodes, tools }))).toBeUndefined();
  });
});

describe('JSON that is embedded in a request', () => {
  it('is parsed if it is within the limits', () => {
    expect(parseBoundedJson('{"a":[1,"é"]}', 'config')).toEqual({ a: [1, 'é'] });
    expect(() => parseBoundedJson('{"a":', 'config')).toThrow(SyntaxError);
  });

  it('is refused before parsing if it exceeds a limit', () => {
    const many = `[${'0,'.repeat(JSON_LIMITS.entriesMax)}`;
    expect(() => parseBoundedJson(many, 'config')).toThrow('config holds more than 20000 fields of objects');
    expect(() => parseBoundedJson('['.repeat(101), 'config')).toThrow('config is nested deeper than 100 levels.');
  });
});
