import { readTags } from '../../../platform/outgoing/read-tags.policy.js';

export type FoundPage = { title: string; url: string; description: string };

/** The results on a page of DuckDuckGo's search without scripts, without advertisements. */
export async function duckDuckGoResults(html: string): Promise<readonly FoundPage[]> {
  const found: FoundPage[] = [];
  let into: 'title' | 'description' | undefined;
  await readTags(html, {
    onopentag(name, { class: classes = '', href = '' }) {
      if (name !== 'a') return;
      const of = new Set(classes.split(/\s+/));
      if (of.has('result__a')) {
        found.push({ title: '', url: targetOf(href), description: '' });
        into = 'title';
      } else if (of.has('result__snippet')) into = 'description';
    },
    ontext(text) {
      const last = found.at(-1);
      if (into && last) last[into] += text;
    },
    onclosetag(name) {
      if (name === 'a') into = undefined;
    },
  });
  return found.filter(({ url }) => url !== '').map(tidied);
}

/** The target of a result link. The link leads to a page that counts clicks, with the target as a parameter. */
function targetOf(href: string): string {
  const url = URL.parse(href, 'https://duckduckgo.com');
  const target = url?.searchParams.get('uddg');
  const found = target ? URL.parse(target) : url;
  const isResult = found && /^https?:$/.test(found.protocol) && !/(^|\.)duckduckgo\.com$/.test(found.hostname);
  return isResult ? found.href : '';
}

const tidied = ({ title, url, description }: FoundPage): FoundPage => ({
  title: title.replace(/\s+/g, ' ').trim(),
  url,
  description: description.replace(/\s+/g, ' ').trim(),
});
