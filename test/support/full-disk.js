/**
 * Loaded before a program (`NODE_OPTIONS=--import=…`). While the file that FULL_DISK names exists, every write of the program to
 * a file fails as on a full disk. A disk that is really full requires a mount, which an ordinary user may not make.
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Standard output and standard error are not files and remain writable. */
const OUTPUT_MAX = 2;

const isFull = () => fs.existsSync(process.env.FULL_DISK);
const full = () =>
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28, syscall: 'write' });

const handle = await open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
for (const name of ['write', 'writev', 'writeFile', 'appendFile']) {
  const real = prototype[name];
  prototype[name] = async function (...given) {
    if (isFull()) throw full();
    return real.apply(this, given);
  };
}
for (const name of ['write', 'writev']) {
  const real = fs[name];
  fs[name] = (descriptor, ...given) =>
    descriptor > OUTPUT_MAX && isFull() ? process.nextTick(given.at(-1), full()) : real(descriptor, ...given);
}
syncBuiltinESMExports();
