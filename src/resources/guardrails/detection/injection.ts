import { type Detector, matchesOf } from './detector.js';

/** What may separate two words. */
const GAP = String.raw`[\s\p{P}]{1,12}`;
/** Words and gaps share no character, so a text can be split in only one way. This prevents exponential backtracking. */
const WORD = String.raw`[\p{L}\p{N}]{1,20}`;
/** Up to five words between two parts of a phrase. */
const FEW = String.raw`(?:${GAP}${WORD}){0,5}${GAP}`;
const INSTRUCTIONS = String.raw`(?:instruct|prompt|rule|guideline|direction|command|context|restriction|message)`;

const phrases = (...alternatives: readonly string[]) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${alternatives.join('|')})`, 'gu');

/** Phrases that give a model orders, for texts in lower case. */
const SIGNS: readonly (readonly [category: string, pattern: RegExp])[] = [
  [
    'INSTRUCTION_OVERRIDE',
    phrases(
      String.raw`(?:ignore|disregard|forget|override|bypass|discard|neglect)${FEW}(?:previous|prior|above|earlier|preceding|former|foregoing|existing|original|initial|system|your|these|those|all|any)${FEW}${INSTRUCTIONS}`,
      String.raw`(?:ignore|disregard|forget)${GAP}(?:all${GAP}|everything${GAP})(?:of${GAP})?(?:the${GAP}|that${GAP})?(?:above|before|you${GAP}were${GAP}told|previous)`,
      String.raw`(?:ignoriere?|vergiss|missachte)${FEW}(?:anweisung|instruktion|vorgabe|befehl|regel)`,
      String.raw`(?:ignora|olvida|ignore|oublie[rz]?|ignorez)${FEW}(?:instruccion|instrucción|instruction|consigne|istruzion|instruç)`,
      String.raw`new${GAP}(?:system${GAP})?(?:instructions?|prompt)${GAP}(?:follow|begin|start|are|is)`,
      String.raw`(?:忽略|无视|忘记)[\s\S]{0,12}(?:指令|指示|提示|规则)`,
    ),
  ],
  [
    'ROLE_OVERRIDE',
    phrases(
      String.raw`you${GAP}(?:are|will)${GAP}now${FEW}(?:dan|unrestricted|unfiltered|jailbroken|evil|free|developer|mode|longer)`,
      String.raw`(?:act|behave|respond|pretend)${FEW}(?:unrestricted|unfiltered|no${GAP}(?:rules|restrictions|limits|filters)|without${GAP}(?:any${GAP})?(?:rules|restrictions|limits|filters|censorship))`,
      String.raw`(?:enable|enter|activate|switch)${FEW}(?:developer|debug|god|dan|jailbreak|admin|sudo)${GAP}mode`,
      String.raw`do${GAP}anything${GAP}now`,
    ),
  ],
  [
    'PROMPT_LEAK',
    phrases(
      String.raw`(?:reveal|show|print|repeat|output|display|tell|give|expose|leak|reproduce|recite|dump)${FEW}(?:system|initial|hidden|secret|original|your)${GAP}(?:system${GAP})?(?:prompt|instructions|message|rules)`,
      String.raw`(?:repeat|print|output)${FEW}(?:words|text|everything)${GAP}above`,
    ),
  ],
  [
    'FAKE_ROLE',
    /<\|(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|>|\[\/?inst\]|<<\/?sys>>|<\/?(?:system|assistant|instructions?)(?:_?prompt)?>|^[#*\s]{0,8}(?:system|assistant)(?:[ _](?:prompt|message|override))?[*\s]{0,4}:/gmu,
  ],
  [
    'EXFILTRATION',
    phrases(
      String.raw`(?:send|post|forward|upload|exfiltrate|transmit|leak|email)${FEW}(?:conversation|chat|history|secrets?|password|credentials?|api${GAP}keys?|tokens?|system${GAP}prompt)${FEW}(?:to|https?)`,
    ),
  ],
];

const LONGEST = 400;

/** Finds texts that try to give the model orders. Fewer than `min_hits` matches do not count. */
export const injection = ({ min_hits: hitsMin }: Readonly<{ min_hits: number }>): Detector => ({
  window: LONGEST,
  ignoresCase: true,
  maskOf: () => '[REDACTED]',
  matchesMin: hitsMin,
  find: (text) => SIGNS.flatMap(([category, pattern]) => matchesOf(text, pattern, category)),
});
