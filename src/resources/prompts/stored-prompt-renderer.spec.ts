import { NO_GRANTS } from '../../../test/support/no-grants.js';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { newId } from '../../kernel/ids.js';
import { GuardedTemplates } from './templates/guarded-templates.js';
import { PRESETS } from './presets.policy.js';
import type { PromptNamespaces, PromptRequest } from './prompt.port.js';
import { StoredPromptRenderer } from './stored-prompt-renderer.js';
import type { TemplateEngine } from './templates/template-engine.port.js';

const engine = new GuardedTemplates();
afterAll(() => engine.close());

const promptId = newId();
const namespaces: PromptNamespaces = {
  system: { now: new Date('2026-03-01T04:05:06.789Z'), requestId: 'r1', userId: 'alice', apiBaseUrl: null },
  documents: [
    { text: 'Kept 14 days.', title: 'Retention', source: 'docs', filename: 'retention.md' },
    { text: 'At night.', title: 'Backups', source: 'docs' },
  ],
};

const renderer = (content: string, engineOfTemplates: TemplateEngine = engine) => {
  const stored = { id: promptId, ownerId: 'alice', name: 'Mine', content, createdAt: new Date(0), updatedAt: new Date(0) };
  const queries = { byId: async (id: string) => (id === promptId ? stored : undefined) } as PromptQueries;
  return new StoredPromptRenderer(queries, engineOfTemplates, NO_GRANTS);
};
const render = (content: string, more: Partial<PromptRequest> = {}) =>
  renderer(content).render({ promptId, ownerId: 'alice', namespaces, ...more });
const given = (more: Partial<PromptNamespaces>) => ({ namespaces: { ...namespaces, ...more } });

describe('a preset', () => {
  const noEngine = { render: () => Promise.reject(new Error('not needed')) } as unknown as TemplateEngine;

  it('is rendered without the template engine and does not contain the documents', async () => {
    for (const id of ['', ...PRESETS, 'agentic_strict']) {
      const { text, holdsDocuments } = await renderer('', noEngine).render({ promptId: id, ownerId: 'alice', namespaces });
      expect([holdsDocuments, text.includes('2026-03-01')]).toEqual([false, true]);
    }
  });

  it('tells an agent that searches by itself to do so', async () => {
    const { text } = await render('', { promptId: 'strict', agentic: true });
    expect(text).toContain('Search for them with your tools');
    expect(text).toEqual((await render('', { promptId: 'agentic_strict' })).text);
  });

  it('names the attached files, one on each line', async () => {
    const { text } = await render('', {
      promptId: '',
      ...given({ attachments: [{ filename: 'a\n## Role.md', mimeType: 'x' }] }),
    });
    expect(text).toContain('## Attached files\n- a## Role.md');
  });
});

describe('a prompt in plain words', () => {
  it('becomes the role within the default prompt', async () => {
    const { text, holdsDocuments } = await render('You are a pirate.');
    expect(text).toContain('## Your role\nYou are a pirate.');
    expect(text).toContain('## How to answer');
    expect(holdsDocuments).toBe(false);
  });

  it('is not a template if it has only statements or single braces', async () => {
    expect((await render('{% if x %} {like this}')).text).toContain('{% if x %} {like this}');
  });

  it('of the oldest form contains the documents at its placeholder', async () => {
    const rendered = await render('Use: {summaries} $& only.');
    expect(rendered).toEqual({
      text: 'Use: [1] retention.md (Retention)\nKept 14 days.\n\n[2] Backups\nAt night. $& only.',
      holdsDocuments: true,
    });
    expect((await render('Use: {summaries}.', given({ documents: [] }))).text).toBe('Use: .');
  });
});

describe('a template', () => {
  it('reads the time, the request and the user', async () => {
    const { text } = await render(
      '{{ system.date }}|{{ system.time }}|{{ system.timestamp }}|{{ system.request_id }}|{{ system.user_id }}|{{ system.api_base_url }}',
    );
    expect(text).toBe('2026-03-01|04:05:06|2026-03-01T04:05:06.789Z|r1|alice|');
  });

  it('reads only the scalars of the passthrough', async () => {
    const passthrough = { tier: 'gold', n: 2, yes: true, no: null, list: [1], map: { a: 1 } };
    const { text } = await render(
      '{{ passthrough.tier }},{{ passthrough.n }},{{ passthrough.yes }},{{ passthrough.no }},{{ passthrough.list }},{{ passthrough.map.a }}',
      given({ passthrough }),
    );
    expect(text).toBe('gold,2,true,,,');
  });

  it.each(['source.content', 'source.summaries', 'source.docs_together'])('may contain the documents as %s', async (name) => {
    const rendered = await render(`Documents:\n{{ ${name} }}`);
    expect(rendered).toEqual({
      text: 'Documents:\n[1] retention.md (Retention)\nKept 14 days.\n\n[2] Backups\nAt night.',
      holdsDocuments: true,
    });
  });

  it('may loop over the documents, also if there are none', async () => {
    const template = '{{ source.count }}: {% for d in source.documents %}{{ d.title }};{% endfor %}';
    expect((await render(template)).text).toBe('2: Retention;Backups;');
    expect((await render(template, given({ documents: [] }))).text).toBe('0: ');
  });

  it('reads results of tools and names of attachments', async () => {
    const { text, holdsDocuments } = await render(
      '{{ tools.enabled | join(",") }} {{ tools.weather.today.sky }} {{ attachments.files[0].filename }}',
      given({
        tools: { weather: { today: { sky: 'blue' } } },
        attachments: [{ filename: 'a.pdf', mimeType: 'application/pdf' }],
      }),
    );
    expect([text, holdsDocuments]).toEqual(['weather blue a.pdf', false]);
  });

  it('that fails is refused as not renderable', async () => {
    await expect(render('{{ 1 | nosuchfilter }}')).rejects.toMatchObject({ code: 'prompt-not-renderable' });
  });
});

describe('a prompt that is deleted or belongs to another user', () => {
  it('is refused with the same error', async () => {
    for (const request of [{ ownerId: 'bob' }, { promptId: newId() }, { promptId: 'nonsense' }]) {
      await expect(render('You are a pirate.', request)).rejects.toMatchObject({ code: 'prompt-not-found' });
    }
  });

  it('is replaced by the default if the request allows that', async () => {
    const { text } = await render('You are a pirate.', { promptId: newId(), whenMissing: 'use-default' });
    expect(text).toEqual((await render('', { promptId: 'default' })).text);
  });
});
