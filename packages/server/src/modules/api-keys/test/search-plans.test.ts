/** Searches of administrators read keys by indexes. */
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { assertSearchPlans } from './search-plans.ts';

onEachDatabase('each search of administrators among 10,000 keys reads by an index', ({ db }) =>
  assertSearchPlans(db, 10_000),
);
