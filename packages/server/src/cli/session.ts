/** Opens the installation for a command and closes it afterwards. */
import { systemClock } from '../foundation/clock.ts';
import { processEnvironment, readConfig, type Config } from '../app/configuration/config.ts';
import { openInstallation, type FindRootKeys, type OpenedInstallation } from '../app/installation/installation.ts';
import { wire, type Services } from '../app/wiring/wire.ts';
import type { Principal } from '../foundation/principal.ts';

/** The principal of all commands. A user who can run them on the machine has every permission. */
export const operator = { kind: 'operator' } as const satisfies Principal;

export interface CommandContext extends Services {
  readonly config: Config;
  readonly installation: OpenedInstallation;
}

export async function withInstallation<T>(
  { mayCreate = false, fill }: { mayCreate?: boolean; fill?: FindRootKeys },
  run: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const config = readConfig(processEnvironment());
  const clock = systemClock;
  const installation = await openInstallation(config, {
    clock,
    mayCreate,
    onMigrationWait: ({ detail, waitedSeconds }) =>
      void process.stderr.write(`keyreeve: ${detail}, of which ${waitedSeconds} s have passed\n`),
    fill,
  });
  try {
    const issuer = config.publicUrl ?? `http://localhost:${config.port}`;
    return await run({ config, installation, ...wire({ config, installation, clock, issuer }) });
  } finally {
    await installation.db.close();
  }
}
