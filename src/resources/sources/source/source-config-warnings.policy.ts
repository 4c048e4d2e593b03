import { DEFAULT_SOURCE_CONFIG, type SourceConfig } from './source-config.policy.js';

/** The search features that are configured in this service. */
export class SearchAbilities {
  constructor(readonly hasEmbeddings: boolean) {}
}

type Field = Readonly<{ name: string; of: (config: SourceConfig) => unknown; instead: string }>;

/** Fields that are stored but have no effect, and what happens instead. */
const WITHOUT_EFFECT: readonly Field[] = [
  { name: 'kind', of: ({ kind }) => kind, instead: 'the source is read and searched as classic' },
  {
    name: 'chunking.strategy',
    of: ({ chunking }) => chunking.strategy,
    instead: 'documents are cut at headings, paragraphs, sentences and words, in this order',
  },
  { name: 'chunking.chunk_overlap', of: ({ chunking }) => chunking.chunk_overlap, instead: 'chunks do not overlap' },
  {
    name: 'chunking.duplicate_headers',
    of: ({ chunking }) => chunking.duplicate_headers,
    instead: 'each chunk has a title, and its text repeats no header',
  },
  {
    name: 'retrieval.exposure',
    of: ({ retrieval }) => retrieval.exposure,
    instead: 'agents of the type agentic search by themselves, for all others the source is searched before they answer',
  },
  {
    name: 'retrieval.score_threshold',
    of: ({ retrieval }) => retrieval.score_threshold,
    instead: 'the best chunks are taken, whatever their score',
  },
  { name: 'retrieval.reranker', of: ({ retrieval }) => retrieval.reranker, instead: 'chunks are ranked once' },
  {
    name: 'retrieval.prescreen',
    of: ({ retrieval }) => retrieval.prescreen,
    instead: 'no model reads the chunks before the one that answers',
  },
  { name: 'retrieval.graph', of: ({ retrieval }) => retrieval.graph, instead: 'there is no graph to search' },
  { name: 'graph', of: ({ graph }) => graph, instead: 'no graph is made of the source' },
];

/** One sentence for each field without effect whose value is not the default. */
export function warningsAbout(config: SourceConfig, { hasEmbeddings }: SearchAbilities): readonly string[] {
  const ignored = WITHOUT_EFFECT.filter(({ of }) => JSON.stringify(of(config)) !== JSON.stringify(of(DEFAULT_SOURCE_CONFIG)));
  const warnings = ignored.map(({ name, instead }) => `${name} has no effect here: ${instead}.`);
  const { retriever } = config.retrieval;
  if (retriever === 'graphrag') warnings.push('retrieval.retriever has no effect here: graphrag searches as classic does.');
  if (retriever === 'hybrid' && !hasEmbeddings)
    warnings.push('retrieval.retriever has no effect here: without an EMBEDDINGS_MODEL hybrid searches by words alone.');
  return warnings;
}
