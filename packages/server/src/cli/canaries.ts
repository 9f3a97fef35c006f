/** The canaries of the revocation check on this installation's database. */
import { countKeyDeletions } from '../modules/audit/audit.ts';
import { systemClock } from '../foundation/clock.ts';
import { keyImporter } from '../modules/import/api-keys.ts';
import { Canaries } from '../../revocation-check/canaries.ts';
import { operator, type CommandContext } from './session.ts';

export type CanariesContext = Pick<CommandContext, 'accounts' | 'apiKeys' | 'config' | 'installation'>;

/** @param importsKeys whether to import keys too; false for an installation that has never imported keys */
export function canariesOf(
  { accounts, apiKeys, config, installation: { db, keys } }: CanariesContext,
  importsKeys: boolean,
): Canaries {
  const importKey = async (account: string, nickname: string, hash: string): Promise<boolean> => {
    const { keysPerAccountMax } = config;
    const options = { db, clock: systemClock, keyHash: keys.apiKeyHash, keysPerAccountMax, isDryRun: false };
    const importer = keyImporter(operator, options);
    const item = importer.read(1, Buffer.from(JSON.stringify({ account, nickname, hash })));
    const [outcome] = await importer.write([{ line: 1, item }]);
    return outcome === 'imported';
  };
  return new Canaries({
    accounts,
    apiKeys,
    deletionsRecorded: (accountId) => countKeyDeletions(db, accountId),
    importKey: importsKeys ? importKey : undefined,
  });
}
