import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CODE_LIMITS } from '../code-limits.js';
import { CollectedResult } from './collected-result.js';
import { type Frame, FrameReader, frameOf, FrameRefused } from './frames.js';

const limits = { ...CODE_LIMITS, printedBytesMax: 10, filesMax: 2, fileBytesMax: 10 };
const frame = (head: Frame['head'], body = ''): Frame => ({ head, body: Buffer.from(body) });
/** The result of a run that sends these frames. Undefined if the run has not ended. */
const outcomeOf = (...frames: readonly Frame[]) => {
  const result = new CollectedResult(limits);
  for (const each of frames) {
    const failure = result.add(each);
    if (failure !== undefined) return result.as(failure);
  }
  return undefined;
};
const END = frame({ kind: 'end', failure: null });
const kindOf = (...frames: readonly Frame[]) => outcomeOf(...frames)?.failure?.kind;

describe('the collected output of an interpreter', () => {
  it('becomes a result when the run ends', () => {
    const said = [frame({ kind: 'stdout' }, 'a'), frame({ kind: 'stderr' }, 'b'), frame({ kind: 'file', name: 'd/x' }, 'c')];
    expect(outcomeOf(...said)).toBeUndefined();
    expect(outcomeOf(...said, END)).toEqual({
      ...{ stdout: 'a', stderr: 'b', failure: null },
      files: [{ name: 'd/x', content: new Uint8Array(Buffer.from('c')) }],
    });
  });

  it.each([
    '../x',
    '/etc/passwd',
    'a/../../x',
    'a//b',
    '',
    '.',
    'a\0b',
    'a\\b',
    'c:x',
    'a\nb',
    'x'.repeat(256),
    'a/'.repeat(9) + 'x',
    'inputs/x',
    7,
    null,
    {},
  ])('contains no file with the name %j', (name) =>
    expect(outcomeOf(frame({ kind: 'file', name }, 'x'), END)).toMatchObject({ files: [], failure: { kind: 'output' } }),
  );

  it('enforces the limits even if the program does not', () => {
    expect(kindOf(frame({ kind: 'stdout' }, 'x'.repeat(21)), END)).toBe('output');
    expect(kindOf(frame({ kind: 'file', name: 'a' }, 'x'.repeat(11)), END)).toBe('output');
    const files = ['a', 'b', 'c'].map((name) => frame({ kind: 'file', name }));
    expect(kindOf(...files, END)).toBe('output');
    expect(kindOf(files[0]!, files[0]!, END)).toBe('output');
    expect(kindOf(...Array<Frame>(30).fill(frame({ kind: 'stdout' })), END)).toBe('output');
    for (const head of [{}, { kind: 'ready' }, { kind: 'toString' }, { kind: 7 }])
      expect(kindOf(frame(head), END)).toBe('output');
  });

  it('reports a failure as one of the known kinds', () => {
    const failed = (failure: unknown) => outcomeOf(frame({ kind: 'end', failure }))?.failure;
    expect(failed({ kind: 'error', text: 'x' })).toEqual({ kind: 'error', text: 'x' });
    expect(failed({ kind: 'unavailable', text: 'x' })).toEqual({ kind: 'error', text: 'x' });
    expect(failed({ kind: 'error', text: 'Traceback\nMemoryError' })?.kind).toBe('memory');
    expect(failed({ kind: 'error', text: 'x'.repeat(1e5) })?.text).toHaveLength(limits.tracebackCharactersMax);
    for (const odd of [undefined, 7, 'x', []]) expect(failed(odd)?.kind).toBe('error');
  });
});

describe('frames', () => {
  const bytesOf = (...frames: readonly Frame[]) => Buffer.concat(frames.flatMap(({ head, body }) => [...frameOf(head, body)]));
  const anyFrame = fc.record({
    head: fc.dictionary(fc.string(), fc.string()),
    body: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  });

  it('are read as they were written, however the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(anyFrame), fc.array(fc.nat(500)), (frames, cuts) => {
        const all = bytesOf(...frames);
        const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
        const reader = new FrameReader(50);
        const read = places.slice(1).flatMap((end, index) => [...reader.push(all.subarray(places[index], end))]);
        expect(read.map(({ head, body }) => [{ ...head }, body.toString('hex')])).toEqual(
          frames.map(({ head, body }) => [{ ...head }, body.toString('hex')]),
        );
      }),
    );
  });

  it('are refused if their head is invalid, or by their size before they are read', () => {
    const sizes = (head: number, body: number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt32BE(head, 0);
      bytes.writeUInt32BE(body, 4);
      return bytes;
    };
    const read = (bytes: Buffer) => [...new FrameReader(50).push(bytes)];
    expect(() => read(sizes(1e6, 0))).toThrow(FrameRefused);
    expect(() => read(sizes(2, 51))).toThrow(FrameRefused);
    for (const text of ['{', 'null', '7', '"x"']) expect(() => read(Buffer.concat([sizes(text.length, 0), Buffer.from(text)]))).toThrow(FrameRefused); // oxfmt-ignore
  });
});
