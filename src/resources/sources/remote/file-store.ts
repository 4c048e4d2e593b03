import type { PageNotFetched } from './remote-requests.js';
import type { StoredFile } from './stored-file.policy.js';

/** The files of a store. `isCut`: the store has more files than are listed. */
export type StoredFiles = Readonly<{ files: readonly StoredFile[]; isCut: boolean }>;

/** No file of a store can be read. */
export class StoreOutOfReach extends Error {
  override readonly name = 'StoreOutOfReach';
  constructor(readonly failure: PageNotFetched) {
    super(failure.message);
  }
}

/** The content of a file. `version` is that of the content, which may have changed since the file was listed. */
export type FileContent = Readonly<{ bytes: Uint8Array; version: string }>;

/** An external store of files: a repository or a bucket. */
export type FileStore = {
  /** @throws StoreOutOfReach */
  list(): Promise<StoredFiles>;
  /** @throws StoreOutOfReach if no other file can be read either */
  read(file: StoredFile): Promise<FileContent | PageNotFetched>;
};
