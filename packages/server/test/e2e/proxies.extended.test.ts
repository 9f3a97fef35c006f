/** The configurations in `docs/forward-auth/` of the proxies that proxies.test.ts does not run. */
import { startKeyreeve } from './forward-auth-server.ts';
import { checkConfigurations } from './proxy-checks.ts';
import { extendedProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

checkConfigurations(
  extendedProxies,
  startedOnce(() => startKeyreeve()),
);
