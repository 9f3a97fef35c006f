/** Compares the processes that only verify with the processors. */
import { availableParallelism } from 'node:os';
import { plural } from '../../foundation/plural.ts';
import type { Config } from '../configuration/config.ts';

interface VerifierCheck {
  readonly name: string;
  readonly state: 'ok' | 'note';
  readonly detail: string;
}

type VerifierSettings = Pick<Config, 'verifyPort' | 'verifySocket' | 'verifiers'>;

/**
 * @param processors that this process may use
 * @returns nothing without a listener that only verifies
 */
export function checkVerifiers(
  { verifyPort, verifySocket, verifiers }: VerifierSettings,
  processors = availableParallelism(),
): VerifierCheck[] {
  if (verifyPort === undefined && verifySocket === undefined) return [];
  const name = 'verifiers';
  const found = `${plural(verifiers, 'verifier')}, ${plural(processors, 'processor')}`;
  if (verifiers < processors) return [{ name, state: 'ok', detail: found }];
  const detail = `${found}: no processor is left for the main process, so changes and verifications delay each other. Set KEYREEVE_VERIFIERS to ${Math.max(1, processors - 1)}, or use a machine with more processors`;
  return [{ name, state: 'note', detail }];
}
