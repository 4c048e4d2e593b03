import { describe, expect, it } from '@jest/globals';
import { EventStreamReader, FRAME_CHARACTERS_MAX, FrameTooLong } from './event-stream-reader.js';

const TEXT = '\uFEFF: busy\r\n\r\nevent: x\r\ndata:{"one":\r\ndata: 1}\r\n\r\nid: 1\ndata: zwölf 🦆\n\n\n\ndata:\n\ndata: last';
const EVENTS = ['{"one":\n1}', 'zwölf 🦆', '', 'last'];

/** A stream that comes in pieces of so many bytes. */
function eventsIn(text: string, pieceBytes: number): readonly string[] {
  const reader = new EventStreamReader();
  const bytes = Buffer.from(text);
  const events: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) events.push(...reader.read(bytes.subarray(at, at + pieceBytes)));
  return [...events, ...reader.end()];
}

describe('an event stream', () => {
  it.each([1, 2, 3, 7, 1_000])('is the same in whatever pieces it comes: %i bytes', (pieceBytes) =>
    expect(eventsIn(TEXT, pieceBytes)).toEqual(EVENTS),
  );

  it('may have an event as long as is allowed, in pieces as small as they come', () => {
    const data = 'x'.repeat(FRAME_CHARACTERS_MAX - 'data: '.length);
    expect(eventsIn(`data: ${data}\n\n`, 16)).toEqual([data]);
  });

  it.each([
    ['a line that does not end', 'x'.repeat(1_000)],
    ['lines that do not end their event', `data: ${'x'.repeat(1_000)}\n`],
    ['lines without text that do not end their event', 'data:\n'.repeat(1_000)],
  ])('is refused with %s', (_, piece) => {
    const reader = new EventStreamReader();
    const bytes = Buffer.from(piece);
    const readOn = () => {
      for (let read = 0; read <= 8 * FRAME_CHARACTERS_MAX; read += bytes.length) reader.read(bytes);
    };
    expect(readOn).toThrow(FrameTooLong);
  });
});
