/** The test of signing keys at verifiers detects a broken build. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { makeBuiltCopy } from '../revocation-check/mutant-run.ts';
import { signingKeyMutant } from '../revocation-check/verifier-mutants.ts';
import { newProgram } from './program.ts';
import { assertRejectsTokensOfRevokedKeys, withVerifier } from './verifier-kit.ts';

const { name, edits } = signingKeyMutant;

test(`a rotation of the signing keys detects ${name}`, async () => {
  using folder = newTempFolder();
  const { bin, environment } = makeBuiltCopy(folder.path, edits);
  await using program = await newProgram({ ...environment, ...withVerifier }, [bin, 'serve']);
  await assert.rejects(assertRejectsTokensOfRevokedKeys(program), {
    code: 'ERR_ASSERTION',
    actual: new Set([200]),
    expected: new Set([401]),
  });
});
