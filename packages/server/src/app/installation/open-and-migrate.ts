/** Opens the installation for a service, in the process that may create it and migrate its schema. */
import { script as keyProcedures } from '../../modules/api-keys/procedures.ts';
import { keyPrefixWarnings } from '../../modules/api-keys/key-prefixes.ts';
import { catalogueWarnings } from '../../modules/scope-catalogue/warnings.ts';
import { warningsOf } from '../configuration/config-warnings.ts';
import { durabilityOf } from '../../foundation/database/durability.ts';
import { failoverStateOf } from '../../foundation/database/failover.ts';
import { assertEnvironments } from './environments-check.ts';
import { openInstallation, type Installation, type OpenedInstallation } from './installation.ts';
import { mailTemplates } from '../wiring/mail.ts';
import type { ServiceOptions } from '../processes/service-options.ts';

/** @throws ConfigError, SchemaError */
export async function openAndMigrate({ config, clock, log, environment }: ServiceOptions): Promise<OpenedInstallation> {
  // Reports invalid templates as errors of the configuration, before the database is opened.
  if (config.mailTemplates !== undefined) mailTemplates(config);
  const installation = await openInstallation(config, {
    clock,
    mayCreate: true,
    procedures: [keyProcedures],
    onMigrationWait: (wait) => log.warn({ event: 'migration_waits', ...wait }),
    environment,
  });
  if (installation.migrated.length > 0) log.info({ event: 'migrated', migrations: installation.migrated });
  const { db } = installation;
  if (db.usageFile) {
    const { usageFile: file } = db;
    file.onRenewed = (reason) => log.warn({ event: 'usage_file_renewed', reason, path: file.path });
  }
  const warnings = await closeOnError(installation, async () => {
    await assertEnvironments(db, config);
    return [
      ...(await durabilityOf(db)).warnings,
      ...((await failoverStateOf(db))?.warnings ?? []),
      ...(await keyPrefixWarnings(db, config)),
      ...(await catalogueWarnings(db, config)),
    ];
  });
  for (const detail of [...warningsOf(config), ...warnings]) log.warn({ event: 'configuration', detail });
  return installation;
}

/** Runs a start with an open database. */
export async function closeOnError<T>({ db }: Installation, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    await db.close();
    throw error;
  }
}
