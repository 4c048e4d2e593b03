import { GuardedProcess } from '../../src/platform/sandbox/guarded-process.js';
import type { TestQuestion } from './guarded-program.js';

// A process that owns a guarded one, asks it the given questions, prints the process id of its child, and then idles.
const guarded = new GuardedProcess<TestQuestion, unknown>({
  program: { entry: new URL('./guarded-program.js', import.meta.url), options: {} },
});
for (const question of process.argv.slice(2) as TestQuestion[]) {
  if (question === 'wait') void guarded.ask(question);
  else await guarded.ask(question);
}
console.log(guarded.pid);
