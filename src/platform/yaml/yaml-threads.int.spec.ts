import { describe, expect, it } from '@jest/globals';
import { YamlBusy } from './yaml-documents.port.js';
import { ANCHORS_REFUSED, DOCUMENTS_REFUSED, TAGS_REFUSED, YamlThreads } from './yaml-threads.js';

const yaml = new YamlThreads();

describe('YAML of users', () => {
  it.each([
    ['a mapping', 'a: 1\nb: [x, "y"]\n', { a: 1, b: ['x', 'y'] }],
    ['CRLF', 'a: |\r\n  x\r\n  y\r\nb: z\r\n', { a: 'x\ny\n', b: 'z' }],
    ['JSON', '{"a": {"b": null}}', { a: { b: null } }],
    ['a date, which is text', 'a: 2026-01-01', { a: '2026-01-01' }],
    ['a merge key, which is a key', '<<: 1', { '<<': 1 }],
    ['nothing', '', undefined],
    ['a star and an ampersand in texts', 'a: "*x"\nb: x & y\n', { a: '*x', b: 'x & y' }],
  ])('reads %s', async (_, text, value) => expect(await yaml.read(text)).toEqual(value));

  it.each([
    ['an anchor', 'a: &x 1', ANCHORS_REFUSED],
    ['an alias', 'a: &x 1\nb: *x', ANCHORS_REFUSED],
    ['a custom tag', 'a: !thing 1', TAGS_REFUSED],
    ['a tag of YAML', 'a: !!str 1', TAGS_REFUSED],
    ['a tag of JavaScript', 'a: !!js/function "x"', TAGS_REFUSED],
    ['a directive', '%YAML 1.2\n---\na: 1', TAGS_REFUSED],
    ['two documents', 'a: 1\n---\nb: 2', DOCUMENTS_REFUSED],
    ['a duplicate key', 'a: 1\na: 2', /^Invalid YAML: .*dupl/],
    ['deep nesting', `${'['.repeat(1000)}${']'.repeat(1000)}`, /^Invalid YAML: .*depth|nest/],
    ['invalid YAML', 'a: [', /^Invalid YAML: /],
    ['a bomb', bomb(), ANCHORS_REFUSED],
  ])('refuses %s', async (_, text, why) =>
    expect(yaml.read(text)).rejects.toMatchObject({ name: 'YamlRefused', message: expect.stringMatching(why) }),
  );

  const LONG = `{${Array.from({ length: 60_000 }, (_, n) => `k${n}: [1]`).join(', ')}}`;

  it('aborts a text that takes too long and reads the next', async () => {
    const hasty = new YamlThreads({ textMs: 1, busyMs: 60_000 });
    await expect(hasty.read(LONG)).rejects.toThrow(/longer than 1 ms/);
    expect(await yaml.read('a: 1')).toEqual({ a: 1 });
  });

  it('waits until a text has had its processor time', async () => {
    // The processor time of the thread is always reported as 0.
    const starved = new YamlThreads({ textMs: 1, busyMs: 60_000 }, () => 0);
    expect(Object.keys((await starved.read(LONG)) as object)).toHaveLength(60_000);
  });

  it('reports that it is busy when a text does not get its processor time', async () => {
    const starved = new YamlThreads({ textMs: 1, busyMs: 1 }, () => 0);
    await expect(starved.read(LONG)).rejects.toBeInstanceOf(YamlBusy);
  });

  it('counts by the clock where the system reports no processor time', async () => {
    const untold = new YamlThreads({ textMs: 1, busyMs: 60_000 }, () => undefined);
    await expect(untold.read(LONG)).rejects.toThrow(/longer than 1 ms/);
  });
});

function bomb(): string {
  const levels = Array.from(
    { length: 9 },
    (_, n) => `l${n + 1}: &l${n + 1} [${Array.from({ length: 9 }, () => `*l${n}`).join(', ')}]`,
  );
  return ['l0: &l0 lol', ...levels].join('\n');
}
