/** Every route on PostgreSQL over pools of one connection, after the routes that follow it in `one-connection.test.ts`. */
import { allRoutes } from '@keyreeve/contract';
import { testRoutes } from './one-connection.ts';

testRoutes('in reverse', allRoutes.toReversed());
