import { expect } from '@jest/globals';

/** The rejection of a document that names its file. */
export const documentRefusal = (code: string, file: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(file) as unknown });
