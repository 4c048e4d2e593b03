import { DOCUMENT_EXTENSIONS, extensionOf } from '../../documents/document.port.js';

/** A file in an external store. Its version changes whenever its content does. */
export type StoredFile = Readonly<{ path: string; size: number; version: string }>;

/** Source code, configuration and markup, which are read as plain text. */
const TEXT_EXTENSIONS = new Set(
  `adoc bash bat c cc cfg conf config cpp cs css dart ex exs fish go gradle graphql groovy h hpp htm ini java jl js jsx kt kts less log
  lua m markdown mjs php pl properties proto ps1 py r rb rs sass scala scss sh sql svelte swift tex tf toml ts tsv tsx vue xml yaml yml
  zsh`.split(/\s+/),
);

export const isReadable = (path: string): boolean => {
  const extension = extensionOf(path);
  return DOCUMENT_EXTENSIONS.includes(extension) || TEXT_EXTENSIONS.has(extension);
};

/** The name under which a file is parsed. Its extension chooses the parser. */
export const parsedName = (filename: string): string =>
  TEXT_EXTENSIONS.has(extensionOf(filename)) ? `${filename}.txt` : filename;
