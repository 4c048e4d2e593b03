import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { keptBytesOf, linesIn, OUTPUT_REQUEST_BYTES_MAX, unpacked, withinRoom } from './output.policy.js';

describe('a body of output', () => {
  it('is unpacked up to the maximum size', async () => {
    expect((await unpacked(gzipSync('ok'), ' GZIP ')).toString()).toBe('ok');
    expect((await unpacked(Buffer.from('ok'), undefined)).toString()).toBe('ok');
    const large = Buffer.alloc(OUTPUT_REQUEST_BYTES_MAX + 1);
    await expect(unpacked(gzipSync(large), 'gzip')).rejects.toMatchObject({ code: 'device-output-too-large' });
    await expect(unpacked(large, undefined)).rejects.toMatchObject({ code: 'device-output-too-large' });
    await expect(unpacked(Buffer.from('ok'), 'gzip')).rejects.toMatchObject({ code: 'device-invalid-gzip' });
    await expect(unpacked(gzipSync('ok').subarray(0, 15), 'gzip')).rejects.toMatchObject({ code: 'device-invalid-gzip' });
  });

  it('is read line by line, up to the end of the command', () => {
    const lines = [
      '{"stream":"stdout","chunk":"a"}',
      'no json',
      '7',
      '{"stream":"other","chunk":"x"}',
      '{"stream":"stderr","chunk":"b"}',
      '{"stream":"stdout","chunk":"c\\ud800"}',
      '{"stream":"control","exit_code":3,"duration_ms":1.5,"error":""}',
      '{"stream":"stdout","chunk":"late"}',
    ];
    expect(linesIn(Buffer.from(lines.join('\r\n')))).toEqual({
      text: { stdout: 'ac\ufffd', stderr: 'b' },
      end: { exitCode: 3, durationMs: null, error: null },
      received: 5,
    });
    expect(linesIn(Buffer.alloc(0))).toEqual({ text: { stdout: '', stderr: '' }, end: undefined, received: 0 });
  });

  it('is truncated to the room that is left', () => {
    const text = { stdout: '\u0001'.repeat(1000), stderr: 'é'.repeat(1000) };
    for (const room of [10_000, 3_000, 100, 4]) expect(keptBytesOf(withinRoom(text, room))).toBeLessThanOrEqual(room);
    expect(withinRoom(text, 10_000)).toEqual(text);
    expect(withinRoom(text, 0)).toEqual({ stdout: '', stderr: '' });
  });
});
