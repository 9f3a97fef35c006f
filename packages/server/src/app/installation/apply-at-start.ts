/** Applies the file of KEYREEVE_BOOTSTRAP before the service serves its first request. */
import type { Apply } from '../../modules/apply/apply.ts';
import { ApplyError } from '../../modules/apply/apply-error.ts';
import { readApplyFile } from '../../modules/apply/file.ts';
import type { Log } from '../../foundation/log.ts';
import { ConfigError, type Config } from '../configuration/config.ts';

/** @throws ConfigError if the file cannot be applied: the service does not start without what it states */
export async function applyAtStart(
  apply: Apply,
  { bootstrap: path, mayReadWorldReadableSecrets }: Pick<Config, 'bootstrap' | 'mayReadWorldReadableSecrets'>,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<void> {
  if (path === undefined) return;
  try {
    const file = readApplyFile(path, mayReadWorldReadableSecrets);
    const { generation, isApplied, steps } = await apply.run({ kind: 'operator' }, file, { isStart: true });
    if (!isApplied) return;
    // Without names: those of accounts are email addresses.
    const changes = steps.map(({ change, kind, id, members }) => ({ change, kind, id, members }));
    log.info({ event: 'file_applied', generation, steps: changes });
  } catch (error) {
    if (!(error instanceof ApplyError)) throw error;
    throw new ConfigError(error.message.split('\n').map((line) => `KEYREEVE_BOOTSTRAP (${path}): ${line}`));
  }
}
