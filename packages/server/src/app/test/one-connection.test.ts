/** Every route on PostgreSQL over pools of one connection. The other order of the routes is in the extended lane. */
import { allRoutes } from '@keyreeve/contract';
import { testRoutes } from './one-connection.ts';

testRoutes('as listed', allRoutes);
