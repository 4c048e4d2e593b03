import { describe, expect, it } from '@jest/globals';
import { EventStreamReader, FRAME_CHARACTERS_MAX, FrameTooLong } from './event-stream-reader.js';

const TEXT = '\uFEFF: busy\r\n\r\nevent: x\r\ndata:{"one":\r\ndata: 1}\r\n\r\nid: 1\ndata: zwölf 🦆\n\n\n\ndata:\n\ndata: last';
const EVENTS = ['{"one":\n1}', 'zwölf 🦆', '', 'last'];

/** The events of a stream that arrives in pieces of `pieceBytes` bytes. */
function eventsIn(text: string, pieceBytes: number): readonly string[] {
  const reader = new EventStreamReader();
  const bytes = Buffer.from(text);
  const events: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) events.push(...reader.read(bytes.subarray(at, at + pieceBytes)));
  return [...events, ...reader.end()];
}

describe('an event stream', () => {
  it.each([1, 2, 3, 7, 1_000])('has the same events if it arrives in pieces of %i bytes', (pieceBytes) =>
    expect(eventsIn(TEXT, pieceBytes)).toEqual(EVENTS),
  );

  it('may contain an event of the maximum length, even in small pieces', () => {
    const data = 'x'.repeat(FRAME_CHARACTERS_MAX - 'data: '.length);
    expect(eventsIn(`data: ${data}\n\n`, 16)).toEqual([data]);
  });

  it.each([
    ['a line that does not end', 'x'.repeat(1_000)],
    ['lines that do not end their event', `data: ${'x'.repeat(1_000)}\n`],
    ['lines without text that do not end their event', 'data:\n'.repeat(1_000)],
  ])('is refused if it contains %s', (_, piece) => {
    const reader = new EventStreamReader();
    const bytes = Buffer.from(piece);
    const readOn = () => {
      for (let read = 0; read <= 8 * FRAME_CHARACTERS_MAX; read += bytes.length) reader.read(bytes);
    };
    expect(readOn).toThrow(FrameTooLong);
  });
});
