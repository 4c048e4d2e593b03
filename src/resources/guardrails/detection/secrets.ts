import { type Detector, type Match, matchesOf } from './detector.js';

/**
 * The known formats of secrets. A text without `sign` is not searched for the pattern. A pattern recognises its secret within 128
 * characters (the window) and also matches the rest of the token. All patterns run in linear time.
 */
const FORMATS: readonly (readonly [category: string, sign: string, pattern: RegExp])[] = [
  ['AWS_ACCESS_KEY', 'A', /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g],
  ['AWS_SECRET_KEY', 'ecret', /ecret_?[Aa]ccess_?[Kk]ey["']? {0,4}[:=] {0,4}["']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/g],
  ['GITHUB_TOKEN', 'gh', /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,}/g],
  ['GITHUB_TOKEN', 'github_pat_', /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{22,}/g],
  ['GITLAB_TOKEN', 'gl', /(?<![A-Za-z0-9])gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_.-]{20,}/g],
  ['SLACK_TOKEN', 'xox', /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}/g],
  ['SLACK_TOKEN', 'xapp', /(?<![A-Za-z0-9])xapp-\d-[A-Za-z0-9-]{10,}/g],
  ['SLACK_WEBHOOK', 'hooks.slack', /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9_/-]{10,}/g],
  ['DISCORD_WEBHOOK', '/api/webhooks', /discord(?:app)?\.com\/api\/webhooks\/\d{5,20}\/[A-Za-z0-9_-]{20,}/g],
  ['ANTHROPIC_KEY', 'sk-ant', /(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{20,}/g],
  ['OPENAI_KEY', 'sk-', /(?<![A-Za-z0-9])sk-(?!ant-)(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,}/g],
  ['HUGGINGFACE_TOKEN', 'hf_', /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/g],
  ['GOOGLE_API_KEY', 'AIza', /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/g],
  ['GOOGLE_OAUTH_SECRET', 'GOCSPX', /(?<![A-Za-z0-9])GOCSPX-[A-Za-z0-9_-]{24,}/g],
  ['GOOGLE_OAUTH_TOKEN', 'ya29', /(?<![A-Za-z0-9])ya29\.[A-Za-z0-9_-]{20,}/g],
  ['STRIPE_KEY', '_', /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}/g],
  ['TWILIO_KEY', 'SK', /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g],
  ['SENDGRID_KEY', 'SG.', /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,}/g],
  ['NPM_TOKEN', 'npm_', /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{36}/g],
  ['PYPI_TOKEN', 'pypi-', /(?<![A-Za-z0-9])pypi-AgE[A-Za-z0-9_-]{40,}/g],
  ['DOCKER_TOKEN', 'dckr_', /(?<![A-Za-z0-9])dckr_[po]at_[A-Za-z0-9_-]{20,}/g],
  ['DIGITALOCEAN_TOKEN', '_v1_', /(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}/g],
  ['SHOPIFY_TOKEN', 'shp', /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g],
  ['TELEGRAM_TOKEN', ':AA', /(?<![A-Za-z0-9])\d{8,10}:AA[A-Za-z0-9_-]{33}/g],
  ['VAULT_TOKEN', 'hv', /(?<![A-Za-z0-9])hv[sbr]\.[A-Za-z0-9_-]{24,}/g],
  ['AZURE_STORAGE_KEY', 'Key=', /(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}/g],
  ['ACCESS_TOKEN', 'dgpt_pat_', /(?<![A-Za-z0-9])dgpt_pat_[A-Za-z0-9_-]{16,}/g],
  ['AGE_SECRET_KEY', 'AGE-', /AGE-SECRET-KEY-1[A-Z0-9]{40,}/g],
  [
    'JWT',
    'eyJ',
    /eyJ(?:hbGciOi|0eXAiOi|raWQiOi|jdHkiOi|lbmMiOi|4NXQiOi|4NWMiOi|qa3UiOi|6aXAiOi|lcGsiOi)[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*/g,
  ],
  ['URL_CREDENTIALS', '://', /(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}:\/\/[^\s/?#@:]{0,64}:[^\s/?#@]{1,256}@/g],
];

const KEY_BEGIN = /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
/** The lines of a key, also with the escapes of a JSON string, and the header lines that describe its encryption. */
const KEY_BODY = /[A-Za-z0-9+/=\s\\:,.-]*/y;
const KEY_END = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/;

/** Makes the beginnings of tokens long enough. All tokens may contain it. */
const FILLER = 'X'.repeat(40);
/** The beginnings of the secrets that have no fixed length. If there are several formats, of the one that allows the most characters. */
const BEGINNINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    GITHUB_TOKEN: 'github_pat_',
    GITLAB_TOKEN: 'glpat-',
    SLACK_TOKEN: 'xoxb-',
    SLACK_WEBHOOK: 'hooks.slack.com/services/',
    DISCORD_WEBHOOK: 'discord.com/api/webhooks/12345/',
    ANTHROPIC_KEY: 'sk-ant-',
    OPENAI_KEY: 'sk-',
    HUGGINGFACE_TOKEN: 'hf_',
    GOOGLE_OAUTH_SECRET: 'GOCSPX-',
    GOOGLE_OAUTH_TOKEN: 'ya29.',
    STRIPE_KEY: 'whsec_',
    SENDGRID_KEY: `SG.${'X'.repeat(16)}.`,
    PYPI_TOKEN: 'pypi-AgE',
    DOCKER_TOKEN: 'dckr_pat_',
    VAULT_TOKEN: 'hvs.',
    AZURE_STORAGE_KEY: 'AccountKey=',
    ACCESS_TOKEN: 'dgpt_pat_',
    AGE_SECRET_KEY: 'AGE-SECRET-KEY-1',
    JWT: 'eyJhbGciOi',
    PRIVATE_KEY: '-----BEGIN PRIVATE KEY-----\n',
  }).map(([category, sign]) => [category, sign + FILLER]),
);

/** Finds private keys from BEGIN to END line. A key without an END line ends with the last character that can belong to one. */
function privateKeys(text: string): Match[] {
  const found: Match[] = [];
  let end = 0;
  for (const { 0: first, index: start } of text.matchAll(KEY_BEGIN)) {
    if (start < end) continue;
    KEY_BODY.lastIndex = start + first.length;
    const body = KEY_BODY.exec(text)![0];
    const last = KEY_END.exec(body);
    end = start + first.length + (last ? last.index + last[0].length : body.length);
    found.push({ start, end, category: 'PRIVATE_KEY' });
  }
  return found;
}

/** The end of a text that may become a URL with user name and password. */
const URL_PENDING = /[A-Za-z][A-Za-z0-9+.-]{0,20}:\/\/[^\s/?#@]*$/;
const URL_PENDING_MAX = 352;

const detector: Detector = {
  window: 128,
  ignoresCase: false,
  maskOf: () => '[REDACTED]',
  find: (text) => [
    ...FORMATS.flatMap(([category, sign, pattern]) => (text.includes(sign) ? matchesOf(text, pattern, category) : [])),
    ...(text.includes('-----BEGIN') ? privateKeys(text) : []),
  ],
  pendingFrom: (text) => {
    const from = Math.max(0, text.length - URL_PENDING_MAX);
    const end = text.slice(from);
    const pending = end.includes('://') ? URL_PENDING.exec(end) : null;
    return pending ? from + pending.index : undefined;
  },
  beginningOf: (category) => BEGINNINGS.get(category),
};

/** Finds secrets of known formats. */
export const secrets = (): Detector => detector;
