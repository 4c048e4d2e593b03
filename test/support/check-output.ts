import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const OUTPUT_BYTES_MAX = 100_000_000;

/**
 * The output of a check that Node runs in a folder. The check exits with 0, or with 1 if it finds something.
 *
 * @throws Error if it ended in another way, because its output may not be complete then
 */
export async function outputOfCheck(args: readonly string[], folder: string, maxBuffer = OUTPUT_BYTES_MAX): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, args, { cwd: folder, maxBuffer })).stdout;
  } catch (error) {
    const { code, stdout } = error as { code?: unknown; stdout: string };
    if (code === 1) return stdout;
    throw error;
  }
}
