/** Deletes a key over HTTP at a random instance, and reports the deletion to the checker. */
import { setTimeout } from 'node:timers/promises';
import { monotonicMs } from '../src/foundation/clock.ts';
import type { KeySession } from './account-session.ts';
import type { ScenarioOptions } from './scenario-options.ts';
import type { DeletionOutcome } from './history.ts';
import type { HttpResponse } from './instance.ts';
import { pick } from './prober.ts';

export type DeletionOptions = Pick<ScenarioOptions, 'instances' | 'checker' | 'isOver' | 'onDeleted'>;

/** Before a retry. */
export const pauseMs = 50;

/** @returns undefined if the sign-in failed */
export async function deleteOnce(
  session: KeySession,
  id: number,
  { instances, checker, onDeleted }: DeletionOptions,
): Promise<DeletionOutcome | undefined> {
  const instance = pick(instances);
  // Before the recorded start, so that the interval is short.
  if (!(await session.ensureSignedIn(instance))) return undefined;
  const source = `DELETE ${session.keysPath}/:id at ${instance.url}`;
  const deletion = checker.beginDeletion(id, source, monotonicMs());
  const response = await session.send(instance, 'DELETE', `${session.keysPath}/${id}`);
  const outcome = outcomeOf(response);
  checker.endDeletion(id, deletion, outcome, monotonicMs());
  if (outcome === 'deleted') onDeleted?.(checker.deletions);
  return outcome;
}

/** Repeats the deletion until its outcome is known. @returns false if the run ended before */
export async function deleteKey(session: KeySession, id: number, options: DeletionOptions): Promise<boolean> {
  for (;;) {
    const outcome = await deleteOnce(session, id, options);
    if (outcome === 'deleted' || outcome === 'not_found') return true;
    if (options.isOver()) return false;
    await setTimeout(pauseMs);
  }
}

function outcomeOf(response: HttpResponse | undefined): DeletionOutcome {
  if (response?.status === 200) return 'deleted';
  if (response?.status === 404) return 'not_found';
  return response?.status === 401 ? 'rejected' : 'unknown';
}
