import type { PageNotFetched } from './remote-requests.js';
import type { StoredFile } from './stored-file.policy.js';

/** The files of a store, and whether there are more than were listed. */
export type StoredFiles = Readonly<{ files: readonly StoredFile[]; isCut: boolean }>;

/** All files of a store are out of reach, for one reason. */
export class StoreOutOfReach extends Error {
  override readonly name = 'StoreOutOfReach';
  constructor(readonly failure: PageNotFetched) {
    super(failure.message);
  }
}

/** Files that somebody keeps elsewhere: a repository, or a bucket. */
export interface FileStore {
  /** @throws StoreOutOfReach */
  list(): Promise<StoredFiles>;
  /** @throws StoreOutOfReach when no other file can be read either */
  read(file: StoredFile): Promise<Uint8Array | PageNotFetched>;
}
