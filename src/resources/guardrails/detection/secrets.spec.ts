import { expect, it } from '@jest/globals';
import { secrets } from './secrets.js';

const A = (count: number) => 'Ab3'.repeat(count).slice(0, count);
/** One secret of each open-ended format. */
const OPEN_ENDED = [
  ['GITHUB_TOKEN', `ghp_${A(36)}`],
  ['GITHUB_TOKEN', `github_pat_${A(22)}_${A(59)}`],
  ['GITLAB_TOKEN', `glpat-${A(20)}.${A(3)}`],
  ['SLACK_TOKEN', `xoxb-123456789012-${A(24)}`],
  ['SLACK_TOKEN', `xapp-1-${A(24)}`],
  ['SLACK_WEBHOOK', `hooks.slack.com/services/T0/B0/${A(24)}`],
  ['DISCORD_WEBHOOK', `discord.com/api/webhooks/1234567/${A(24)}`],
  ['ANTHROPIC_KEY', `sk-ant-api03-${A(90)}`],
  ['OPENAI_KEY', `sk-proj-${A(48)}`],
  ['HUGGINGFACE_TOKEN', `hf_${A(34)}`],
  ['GOOGLE_OAUTH_SECRET', `GOCSPX-${A(28)}`],
  ['GOOGLE_OAUTH_TOKEN', `ya29.${A(28)}`],
  ['STRIPE_KEY', `sk_live_${A(24)}`],
  ['SENDGRID_KEY', `SG.${A(22)}.${A(43)}`],
  ['PYPI_TOKEN', `pypi-AgE${A(60)}`],
  ['DOCKER_TOKEN', `dckr_pat_${A(27)}`],
  ['VAULT_TOKEN', `hvs.${A(27)}`],
  ['AZURE_STORAGE_KEY', `AccountKey=${A(86)}`],
  ['ACCESS_TOKEN', `dgpt_pat_${A(43)}`],
  ['AGE_SECRET_KEY', `AGE-SECRET-KEY-1${'QP2'.repeat(19)}`],
  ['JWT', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${A(43)}`],
  ['PRIVATE_KEY', `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${A(64)}\n${A(20)}==`],
] as const;

it.each(OPEN_ENDED)('the rest of a secret of the kind %s is found after a made-up beginning: %s', (category, secret) => {
  const { find, beginningOf } = secrets();
  const beginning = beginningOf!(category)!;
  for (let at = secret.length - 10; at <= secret.length; at++) {
    const rest = beginning + secret.slice(at);
    expect(find(`${rest}" is it.`)).toEqual([{ start: 0, end: rest.length, category }]);
  }
});
