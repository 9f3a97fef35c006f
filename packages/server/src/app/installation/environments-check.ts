/** Rejects settings that would give existing keys another environment. */
import type { Db } from '../../foundation/database/db.ts';
import { claimFirstEnvironment } from '../../foundation/database/installation.ts';
import { environmentMistakes } from '../../modules/api-keys/key-prefixes.ts';
import { ConfigError, type Config } from '../configuration/config.ts';

/** Before keys are created. Records the first environment if none is recorded. @throws ConfigError */
export async function assertEnvironments(db: Db, config: Config): Promise<void> {
  const [first] = config.environments;
  if (first) await claimFirstEnvironment(db, first.name);
  const mistakes = await environmentMistakes(db, config);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}
