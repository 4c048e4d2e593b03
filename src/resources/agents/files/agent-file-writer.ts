import { dump } from 'js-yaml';
import { FILE_KIND, FILE_VERSION } from './agent-file.policy.js';

/** What a file says of an agent, in the order in which it is written. */
export type WrittenAgent = Readonly<{
  metadata: Readonly<{ id: string; slug: string }>;
  spec: Readonly<Record<string, unknown>>;
}>;

/** The text of a file: blocks, keys in their order, long texts as they stand. The same agent is always the same text. */
export const agentFileText = ({ metadata, spec }: WrittenAgent): string =>
  dump({ apiVersion: FILE_VERSION, kind: FILE_KIND, metadata, spec }, { lineWidth: -1, noRefs: true, skipInvalid: true });
