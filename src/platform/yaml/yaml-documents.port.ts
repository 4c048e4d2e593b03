/** A text is no YAML that is read here. The message says why, and is for the one who sent it. */
export class YamlRefused extends Error {
  override readonly name = 'YamlRefused';
}

/** More texts wait to be read than are kept waiting, or the machine had no time for this one. It says nothing of the text. */
export class YamlBusy extends Error {
  override readonly name = 'YamlBusy';
}

/** Reads YAML that users send. */
export abstract class YamlDocuments {
  /**
   * The one document of a text, as JSON knows values. Anchors, aliases, tags and directives are refused, and so are doubled
   * keys and what is nested too deeply. @throws YamlRefused, YamlBusy
   */
  abstract read(text: string): Promise<unknown>;
}
