/** A command's access to the installation: opened before it, closed after it, also when it fails. */
import { systemClock } from '../clock.ts';
import { processEnvironment, readConfig, type Config } from '../config.ts';
import { openInstallation, type Installation } from '../installation.ts';
import { wire, type Services } from '../wiring.ts';
import type { Principal } from '../audit/audit.ts';

/** Whoever can run the command line on the machine may do everything. */
export const operator: Principal = { kind: 'operator' };

export interface CommandContext extends Services {
  readonly config: Config;
  readonly installation: Installation;
}

export async function withInstallation<T>(
  { mayCreate = false, isToBeFilled = false }: { mayCreate?: boolean; isToBeFilled?: boolean },
  work: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const config = readConfig(processEnvironment());
  const clock = systemClock;
  const installation = await openInstallation(config, { clock, mayCreate, mayMigrate: mayCreate, isToBeFilled });
  try {
    const issuer = config.publicUrl ?? `http://localhost:${config.port}`;
    return await work({ config, installation, ...wire({ config, installation, clock, issuer }) });
  } finally {
    await installation.db.close();
  }
}
