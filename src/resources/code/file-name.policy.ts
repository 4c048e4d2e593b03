const NAME_BYTES_MAX = 255;
const DEPTH_MAX = 8;

const REFUSED = /[\u0000-\u001f\u007f\\:*?"<>|]/;

/** Whether a path names a file below its base folder on every operating system. */
export function isFileName(name: string): boolean {
  const parts = name.split('/');
  return (
    Buffer.byteLength(name) <= NAME_BYTES_MAX &&
    name.isWellFormed() &&
    !REFUSED.test(name) &&
    parts.length <= DEPTH_MAX &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..')
  );
}
