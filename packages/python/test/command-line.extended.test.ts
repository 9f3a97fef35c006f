/** The example of a command line signs a person in with a real service. The packages that it can use are not those of the tests. */
import { join } from 'node:path';
import { test } from 'node:test';
import { checkCommandLine } from '../../conformance/check-command-line.ts';
import { packageFolder, python, pythonEnvironment, skip } from './python.ts';

test('the command line in Python signs in, uses its key and forgets it', { skip }, async () => {
  const args = [join(packageFolder, 'examples/acme/acme.py')];
  await checkCommandLine({ command: python, args, env: pythonEnvironment() }, { hasQrCode: false });
});
