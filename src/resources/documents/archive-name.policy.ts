/** Whether a file is unpacked into the files inside of it, rather than read itself. */
export const isArchiveName = (filename: string): boolean => /\.zip$/i.test(filename);
