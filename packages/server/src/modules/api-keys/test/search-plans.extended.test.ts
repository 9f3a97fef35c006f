/** Searches of administrators read keys by indexes, also in a large installation. */
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { assertSearchPlans } from './search-plans.ts';

onEachDatabase('each search of administrators among 1,000,000 keys reads by an index', ({ db }) =>
  assertSearchPlans(db, 1_000_000),
);
