/** What endpoints receive of an audit event: for each type the members that the contract documents. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookEvents, webhookMessageTable } from '@keyreeve/contract';
import { assertWebhookMessage } from '../../../../test-kit/declared-answers.ts';
import { describe } from '../events.ts';

/** Audit actions that endpoints receive, with the target that each has. */
const actions = {
  'account.created': 'acc_1',
  'account.verified': 'acc_1',
  'account.disabled': 'acc_1',
  'account.enabled': 'acc_1',
  'account.deleted': 'acc_1',
  'account.password_set': 'acc_1',
  'account.email_changed': 'acc_1',
  'account.sessions_ended': 'acc_1',
  'account.quota_reached': 'acc_1',
  'account.entitlements_set': 'acc_1',
  'service_account.created': 'acc_1',
  'service_account.updated': 'acc_1',
  'service_account.manager_added': 'acc_1/acc_2',
  'service_account.manager_removed': 'acc_1/acc_2',
  'scope.set': 'orders:read',
  'scope.deleted': 'orders:read',
  'second_factor.added': null,
  'second_factor.removed': null,
  'api_key.created': '4830184710273911',
  'api_key.disabled': '4830184710273911',
  'api_key.enabled': '4830184710273911',
  'api_key.rotated': '4830184710273911',
  'api_key.previous_ended': '4830184710273911',
  'api_key.leaked': '4830184710273911',
  'api_key.expiring': '4830184710273911',
  'api_key.quota_reached': '4830184710273911',
  'api_key.deleted': '4830184710273911',
  'session.ended': 'ses_1',
  'session.evicted': 'ses_1',
  'session.reuse_detected': 'ses_1',
} as const;

test('the message of each type has the documented members, and no other', () => {
  const types = new Set<string>();
  for (const [action, target] of Object.entries(actions)) {
    const details = JSON.stringify({
      nickname: 'laptop',
      reason: 'owner',
      overlapSeconds: 60,
      secret: 'previous',
      hash: '00'.repeat(32),
      by: 'possessor',
      from: '203.0.113.0/24',
      host: 'github.com',
      repository: 'octo/private',
      expiresAt: '2026-12-05T09:30:00.000Z',
      limit: 10_000,
      per: 'month',
      period: '2026-11',
      email: 'ada@example.com',
      addresses: ['203.0.113.0/24'],
      metadata: { customer: 'cus_182' },
    });
    const event = describe({
      chain: 0,
      position: 1,
      mac: new Uint8Array(32),
      at: 0,
      actor: 'account:acc_1',
      action,
      accountId: 'acc_1',
      target,
      details,
    });
    assert.ok(event, action);
    types.add(event.type);
    const message = { id: 'msg_1', type: event.type, timestamp: '2026-11-21T09:30:00.000Z', data: event.data };
    assertWebhookMessage(message);
    assert.throws(() => assertWebhookMessage({ ...message, email: 'ada@example.com' } as never), assert.AssertionError);
  }
  assert.deepEqual([...types].toSorted(), webhookEvents.toSorted());
  for (const type of types) assert.ok(type in webhookMessageTable, type);
});

test('a change of a key that is not disabling, enabling or rotation is not published', () => {
  const event = {
    chain: 0,
    position: 1,
    mac: new Uint8Array(32),
    at: 0,
    actor: 'operator',
    accountId: 'acc_1',
    target: '42',
  };
  assert.equal(describe({ ...event, action: 'api_key.updated', details: '{"changed":["nickname"]}' }), undefined);
});

test('the creation of a key is published with the kind of its creator, and without the id of the creator', () => {
  const event = { chain: 0, position: 1, mac: new Uint8Array(32), at: 0, accountId: 'acc_1', target: '42' };
  const details = '{"nickname":"laptop"}';
  for (const [actor, createdBy] of [
    ['account:acc_2', 'account'],
    ['key:7', 'key'],
    ['operator', 'operator'],
    ['portal:por_1', 'portal'],
  ] as const) {
    const published = describe({ ...event, actor, action: 'api_key.created', details });
    assert.deepEqual(published, {
      type: 'api_key.created',
      data: { accountId: 'acc_1', keyId: 42, nickname: 'laptop', createdBy },
    });
  }
  const inTest = '{"nickname":"laptop","environment":"test","given":true}';
  assert.deepEqual(describe({ ...event, actor: 'operator', action: 'api_key.created', details: inTest })?.data, {
    accountId: 'acc_1',
    keyId: 42,
    nickname: 'laptop',
    createdBy: 'operator',
    environment: 'test',
  });
});

test('a change on the key page is published with the person that the backend of the host stated', () => {
  const event = { chain: 0, position: 1, mac: new Uint8Array(32), at: 0, accountId: 'acc_1', target: '42' };
  const data = { accountId: 'acc_1', keyId: 42, nickname: 'laptop' };
  const dataOf = (action: string, details: object) =>
    describe({ ...event, actor: 'portal:por_1', action, details: JSON.stringify({ nickname: 'laptop', ...details }) })
      ?.data;
  const person = { id: 'u_7', name: 'Ada' };
  assert.deepEqual(dataOf('api_key.deleted', { person }), { ...data, person });
  assert.deepEqual(dataOf('api_key.previous_ended', { person: { id: 'u_7', name: null } }), {
    ...data,
    person: { id: 'u_7' },
  });
  assert.deepEqual(dataOf('api_key.created', { person }), { ...data, createdBy: 'portal', person });
  assert.deepEqual(dataOf('api_key.rotated', { person, overlapSeconds: 0 }), { ...data, overlapSeconds: 0, person });
  assert.deepEqual(dataOf('api_key.deleted', {}), data);
});
