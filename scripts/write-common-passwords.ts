/** `npm run passwords`: writes the list of common passwords that the service refuses. */
import { writeFileSync } from 'node:fs';
import { digestsOf, listedPasswords } from './common-passwords.ts';

const target = '../packages/server/src/modules/accounts/common-passwords/digests.bin';
writeFileSync(new URL(target, import.meta.url), digestsOf(listedPasswords()));
