/** `npm run openapi`: writes the contract as an OpenAPI document. A test fails while the committed one is another. */
import { writeFileSync } from 'node:fs';
import { allRoutes, openApiDocument } from '@keyreeve/contract';

const path = new URL('../openapi.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(openApiDocument(allRoutes), null, 2)}\n`);
