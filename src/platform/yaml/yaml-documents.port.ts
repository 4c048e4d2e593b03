/** The text is not valid or not supported YAML. The message gives the reason and is for the sender. */
export class YamlRefused extends Error {
  override readonly name = 'YamlRefused';
}

/** Too many texts are waiting, or the machine was too busy. The text itself may be valid. */
export class YamlBusy extends Error {
  override readonly name = 'YamlBusy';
}

/** The maximum CPU time and elapsed time of a text. */
export type YamlDeadlines = Readonly<{ textMs: number; busyMs: number }>;

/** What a text may contain, and the memory for reading it. With `aliasesMax` 0, tags and directives are refused too. */
export type YamlBounds = Readonly<{ nestingMax: number; aliasesMax: number; memoryMegabytesMax: number }>;

/** Parses YAML from users. */
export abstract class YamlDocuments {
  /**
   * Parses a text with one document into JSON values. Duplicate keys and too deep nesting are refused, and without `aliasesMax`
   * also anchors, aliases, tags and directives. @throws YamlRefused, YamlBusy
   */
  abstract read(text: string): Promise<unknown>;
}
