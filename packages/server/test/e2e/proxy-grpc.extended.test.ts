/** gRPC through the proxies that proxy-grpc.test.ts does not run. */
import { startKeyreeve } from './forward-auth-server.ts';
import { checkGrpc } from './proxy-grpc.ts';
import { extendedProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

checkGrpc(
  extendedProxies,
  startedOnce(() => startKeyreeve()),
);
