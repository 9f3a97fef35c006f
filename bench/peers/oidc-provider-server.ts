/** oidc-provider on node:http, through its own callback. */
import { createServer } from 'node:http';
import { openDatabase } from './database.ts';
import { listen } from './listen.ts';
import { createProvider } from './oidc-provider.ts';

const provider = await createProvider(openDatabase(process.argv[2] ?? ''));
listen(createServer(provider.callback()));
