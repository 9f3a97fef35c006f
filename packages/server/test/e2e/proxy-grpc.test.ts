/** gRPC through the proxies of `npm test`; proxy-grpc.extended.test.ts has the others. */
import { startKeyreeve } from './forward-auth-server.ts';
import { checkGrpc } from './proxy-grpc.ts';
import { productProxies } from './proxy-programs.ts';
import { startedOnce } from './shared-keyreeve.ts';

checkGrpc(
  productProxies,
  startedOnce(() => startKeyreeve()),
);
