/** The text is not valid or not supported YAML. The message gives the reason and is for the sender. */
export class YamlRefused extends Error {
  override readonly name = 'YamlRefused';
}

/** Too many texts are waiting, or the machine was too busy. The text itself may be valid. */
export class YamlBusy extends Error {
  override readonly name = 'YamlBusy';
}

/** Parses YAML from users. */
export abstract class YamlDocuments {
  /**
   * Parses a text with one document into JSON values. Anchors, aliases, tags, directives, duplicate keys and too deep nesting are
   * refused. @throws YamlRefused, YamlBusy
   */
  abstract read(text: string): Promise<unknown>;
}
