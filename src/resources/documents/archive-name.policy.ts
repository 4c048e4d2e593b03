/** Whether a file is an archive that is unpacked instead of parsed. */
export const isArchiveName = (filename: string): boolean => /\.zip$/i.test(filename);
