/** The maximum size of the file list in an event, well below the maximum size of an event. */
const LIST_BYTES_MAX = 640 * 1024;

/** Limits the files that one event lists by the bytes that they take in it. */
export class FileListBudget {
  private bytes: number;

  /** The list begins with these files, whether there is room for them or not. */
  constructor(files: readonly object[] = []) {
    this.bytes = files.reduce((bytes: number, file) => bytes + bytesOf(file), 0);
  }

  /** Adds a file if there is room for it, and returns whether there was. */
  take(file: object): boolean {
    const bytes = bytesOf(file);
    if (this.bytes + bytes > LIST_BYTES_MAX) return false;
    this.bytes += bytes;
    return true;
  }
}

const bytesOf = (file: object): number => Buffer.byteLength(JSON.stringify(file)) + 1;
