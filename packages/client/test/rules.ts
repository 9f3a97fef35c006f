/**
 * The rules that keep the client strict (decision 13), as functions of the library: `rules.test.ts` checks the library itself,
 * `mutants.extended.test.ts` broken builds of it.
 */
import { batchRules } from './batch-rules.ts';
import { connectionRules } from './connection-rules.ts';
import { outageRules } from './outage-rules.ts';
import { overloadRules } from './overload-rules.ts';
import { questionRules } from './question-rules.ts';
import type { Rule } from './rule.ts';

export const rules: readonly Rule[] = [
  ...batchRules,
  ...overloadRules,
  ...outageRules,
  ...connectionRules,
  ...questionRules,
];
