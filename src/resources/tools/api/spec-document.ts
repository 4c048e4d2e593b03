import { JSON_LIMITS, type JsonLimits, JsonMeter } from '../../../kernel/bounded-json.js';
import { Rejection } from '../../../kernel/rejection.js';
import {
  type YamlBounds,
  YamlBusy,
  type YamlDeadlines,
  type YamlDocuments,
  YamlRefused,
} from '../../../platform/yaml/yaml-documents.port.js';
import { isJsonObject } from '../../json-object.policy.js';

export type Json = Readonly<Record<string, unknown>>;

/** An alias of YAML may stand for a list of aliases, so an unlimited number could expand to a huge document. */
export const SPEC_YAML: YamlBounds = { nestingMax: 100, aliasesMax: 100, memoryMegabytesMax: 256 };
/** Maximum entries of a description in JSON. Parsing these takes 0.3 s. Several million would fill the memory of the service. */
export const SPEC_ENTRIES_MAX = 500_000;
const SPEC_JSON: JsonLimits = { ...JSON_LIMITS, entriesMax: SPEC_ENTRIES_MAX, bareBytesMax: Infinity };
/** Reading the largest description takes a few seconds. */
export const SPEC_DEADLINES: YamlDeadlines = { textMs: 15_000, busyMs: 60_000 };

const refused = (text: string) => new Rejection('invalid-request', text);

/** Reads API descriptions. */
export class SpecDocuments {
  constructor(private readonly yaml: YamlDocuments) {}

  /** Parses a description in JSON or YAML. @throws Rejection invalid-request, too-large, unavailable */
  async read(text: string): Promise<Json> {
    const document = (/^\s*\{/.test(text) ? asJson(text) : undefined) ?? (await this.asYaml(text));
    if (!isJsonObject(document)) throw refused('The specification must be an object.');
    const version = document['openapi'] ?? document['swagger'];
    if (typeof version !== 'string' || !/^(3\.[01]|2\.0)/.test(version)) {
      throw refused('The specification must be OpenAPI 3.0 or 3.1, or Swagger 2.0.');
    }
    return document;
  }

  private async asYaml(text: string): Promise<unknown> {
    try {
      return await this.yaml.read(text);
    } catch (error) {
      if (error instanceof YamlBusy) throw new Rejection('unavailable', error.message);
      if (!(error instanceof YamlRefused)) throw error;
      throw refused(`The specification is neither JSON nor YAML: ${error.message.replace('Invalid YAML: ', '')}`);
    }
  }
}

function asJson(text: string): unknown {
  new JsonMeter('The specification', SPEC_JSON).read(Buffer.from(text));
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
