/**
 * Starts the program in a folder when it is told to: `node warm-start.js <folder>`, then `start` as a line on standard input.
 * What takes longest, reading the code in, is over by then. A line `clock <milliseconds>` says how far its clock is off from
 * then on. The program ends with whoever holds its standard input.
 */
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { bundle } = await import(new URL('src/app/bundle.js', pathToFileURL(`${process.argv[2]}/`)).href);
const { platform, service, main } = bundle();
await platform();
await service();
const lines = createInterface({ input: process.stdin });
lines.once('close', () => process.exit(1));
await new Promise((resolve) => {
  lines.on('line', (line) => {
    const [word, value] = line.split(' ');
    if (word === 'clock') setClock(Number(value));
    if (word === 'start') resolve();
  });
});
process.stdin.unref();
await main();

/** A clock that is right is left as it is: `Date` is replaced once it first shows another time than the machine's. */
function setClock(offMs) {
  setClock.offMs = offMs;
  if (setClock.isReplaced) return;
  setClock.isReplaced = true;
  const machine = Date;
  const now = () => machine.now() + setClock.offMs;
  globalThis.Date = new Proxy(machine, {
    construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
    get: (target, name) => (name === 'now' ? now : target[name]),
  });
}
