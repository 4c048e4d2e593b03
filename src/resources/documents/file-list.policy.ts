/** The maximum size of the file list in an event, well below the maximum size of an event. */
const LIST_BYTES_MAX = 640 * 1024;

/** Limits the files that one event lists by the bytes that they take in it. */
export class FileListBudget {
  private bytes = 0;

  /** Adds a file if there is room for it, and returns whether there was. */
  take(file: object): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(file)) + 1;
    if (this.bytes + bytes > LIST_BYTES_MAX) return false;
    this.bytes += bytes;
    return true;
  }
}
