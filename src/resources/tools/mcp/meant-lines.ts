/** The lines of an event stream that have a meaning. Parsers ignore all others. */
const MEANT = /^(?:$|:|(?:data|event|id)(?::|$)|retry: ?\d+$)/;

/**
 * Removes the meaningless lines from an event stream and normalizes line ends. The client's parser creates an error with a stack
 * for each such line, so two megabytes of them would block the process for many seconds.
 */
export function meantLines(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  const meantIn = (text: string): Uint8Array => {
    rest += text;
    if (!/[\r\n]/.test(text)) return encoder.encode();
    // A CR at the end may be the first half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    const meant = lines.filter((line) => MEANT.test(line));
    return encoder.encode(meant.map((line) => `${line}\n`).join(''));
  };
  return new TransformStream({
    transform: (bytes, controller) => controller.enqueue(meantIn(decoder.decode(bytes, { stream: true }))),
    flush: (controller) => controller.enqueue(encoder.encode(rest)),
  });
}
