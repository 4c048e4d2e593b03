/** What means something in an event stream. Everything else is to be passed over. */
const MEANT = /^(?:$|:|(?:data|event|id)(?::|$)|retry: ?\d+$)/;

/**
 * An event stream without the lines that mean nothing, and with the same line ends throughout. The parser of the client makes an
 * error with a stack for each such line: a server that writes two megabytes of them would stop the process for many seconds.
 */
export function meantLines(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  const meantIn = (text: string): Uint8Array => {
    rest += text;
    if (!/[\r\n]/.test(text)) return encoder.encode();
    // A CR at the very end may be the first half of a CRLF.
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
