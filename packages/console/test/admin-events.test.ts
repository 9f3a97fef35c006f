/** Every action of the audit log has a sentence in the console. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuditAction } from '../../server/src/modules/audit/audit.ts';
import { enAdmin } from '../src/text/en-admin.ts';
import { en } from '../src/text/en.ts';

test('every action of the audit log has a sentence', () => {
  // A missing action is a compile error.
  const sentences: Record<AuditAction, string | ((nickname: string) => string)> = {
    ...en.security.events,
    ...enAdmin.audit.events,
  };
  for (const [action, sentence] of Object.entries(sentences))
    assert.match(typeof sentence === 'string' ? sentence : sentence('a'), /^[A-Z].+[^.]$/, action);
});
