/** An event that lists the files of a source stays so far below what an event store takes. */
const LIST_BYTES_MAX = 640 * 1024;

/** How many files one event can list, by the bytes that they take in it. */
export class FileListBudget {
  private bytes = 0;

  /** Whether there is room for one more; if so it is taken. */
  take(file: object): boolean {
    const bytes = Buffer.byteLength(JSON.stringify(file)) + 1;
    if (this.bytes + bytes > LIST_BYTES_MAX) return false;
    this.bytes += bytes;
    return true;
  }
}
