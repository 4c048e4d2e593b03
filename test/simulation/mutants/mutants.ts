import type { Mutant } from '../world/mutant.js';
import { MUTANTS_OF_ANSWERS } from './answers.js';
import { MUTANTS_OF_THE_BACKGROUND } from './background.js';
import { MUTANTS_OF_THE_LOG } from './log.js';

/** Faults that the simulation must find, each within MUTANT_SEEDS_MAX seeds. */
export const MUTANTS: readonly Mutant[] = [...MUTANTS_OF_THE_LOG, ...MUTANTS_OF_ANSWERS, ...MUTANTS_OF_THE_BACKGROUND];
