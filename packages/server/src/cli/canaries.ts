/** The canaries of the revocation check on this installation's database. */
import { countKeyDeletions } from '../modules/audit/audit.ts';
import { systemClock } from '../foundation/clock.ts';
import { keyImporter } from '../modules/import/api-keys.ts';
import { Canaries, type CatalogueChanges } from '../../revocation-check/canaries.ts';
import { operator, type CommandContext } from './session.ts';

export type CanariesContext = Pick<
  CommandContext,
  'accounts' | 'apiKeys' | 'config' | 'entitlements' | 'installation' | 'scopeCatalogue'
>;

const description = 'Of keyreeve prove-revocation';

/**
 * @param importsKeys whether to import keys too; false for an installation that has never imported keys
 * @param catalogue how to change the scope catalogue. Default: by an operator
 */
export function canariesOf(
  { accounts, apiKeys, config, entitlements, installation: { db, keys }, scopeCatalogue }: CanariesContext,
  importsKeys: boolean,
  catalogue: CatalogueChanges = {
    setEntitlements: (accountId, names) => entitlements.set(operator, accountId, names),
    setScope: async (name, entitled) => void (await scopeCatalogue.set(operator, name, { description, entitled })),
    deleteScope: (name) => scopeCatalogue.delete(operator, name),
  },
): Canaries {
  const importKey = async (account: string, nickname: string, hash: string): Promise<boolean> => {
    const { keysPerAccountMax } = config;
    const options = { db, clock: systemClock, keyHash: keys.apiKeyHash, keysPerAccountMax, isDryRun: false };
    const importer = keyImporter(operator, options);
    const ignore = (): void => undefined;
    const item = importer.read(1, { account, nickname, hash }, ignore);
    const [outcome] = await importer.write([{ line: 1, item }], ignore);
    return outcome === 'imported';
  };
  return new Canaries({
    accounts,
    apiKeys,
    deletionsRecorded: (accountId) => countKeyDeletions(db, accountId),
    importKey: importsKeys ? importKey : undefined,
    catalogue: config.scopes === 'catalogue' ? catalogue : undefined,
  });
}
