/**
 * Starts the program in a folder on command: `node warm-start.js <folder>`, then `start` as a line on standard input. The slowest
 * part, loading the code, is over by then. A line `clock <milliseconds>` sets the offset of its clock from then on. The program
 * ends when its standard input closes.
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
// The program takes no arguments.
process.argv.splice(2);
await main();

/** Sets the clock. `Date` is replaced only once the time first differs from the machine's. */
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
