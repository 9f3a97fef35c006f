/** oidc-provider on node:http, with its own request handler. */
import { createServer } from 'node:http';
import { openDatabase } from './database.ts';
import { listen } from './listen.ts';
import { createProvider } from './oidc-provider.ts';

const provider = await createProvider(openDatabase(process.argv[2] ?? ''));
listen(createServer(provider.callback()));
