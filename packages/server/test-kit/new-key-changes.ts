/** Changes of API keys without environments, a scope catalogue and limits. */
import type { Clock } from '../src/foundation/clock.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { KeyChanges } from '../src/modules/api-keys/changes.ts';
import { Environments } from '../src/modules/api-keys/environments.ts';
import { PendingChanges } from '../src/modules/deletion-journal/pending-changes.ts';
import type { Revocations } from '../src/modules/deletion-journal/revocation.ts';
import { keys } from './rows.ts';

export const newKeyChanges = (db: Db, clock: Clock, revocations?: Revocations): KeyChanges =>
  new KeyChanges({
    db,
    clock,
    revocations,
    hash: keys.apiKeyHash,
    environments: new Environments([], 'krv'),
    audiences: { publicUrl: 'http://localhost', others: [] },
    hasCatalogue: false,
    lifetimeDaysMax: 0,
    creationLimits: undefined,
    pending: new PendingChanges(),
  });
