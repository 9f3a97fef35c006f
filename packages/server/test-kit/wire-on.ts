/** The modules of a service on the database of a test, without HTTP. */
import type { WiringOptions } from '../src/app/wiring/core.ts';
import { wire, type Services } from '../src/app/wiring/wire.ts';
import type { Db } from '../src/foundation/database/db.ts';
import { FakeClock } from './fake-clock.ts';
import { keys } from './rows.ts';
import { testConfig } from './test-config.ts';

export const wireOn = (db: Db, options: Partial<WiringOptions> = {}): Services =>
  wire({
    config: testConfig(),
    installation: { db, keys, migrated: [] },
    clock: new FakeClock(),
    issuer: 'http://localhost',
    ...options,
  });
