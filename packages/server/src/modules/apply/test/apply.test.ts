/** Files of `keyreeve apply` on both databases: what they create, change, delete, and never create again. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { now, operator } from '../../../../test-kit/rows.ts';
import { rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { whenDone } from '../../../../test-kit/when-available.ts';
import { addAccount, addServiceAccount } from '../../../../test-kit/rows.ts';
import { createAccount, type NewAccount } from '../../accounts/store.ts';
import {
  applied,
  newApplyFolder,
  onEachInstallation,
  servicesOn,
  sha256Of,
  signingSecret,
  verified,
  type Content,
} from './apply-kit.ts';

const sha256 = sha256Of('orders');
const full = {
  scopes: [
    { name: 'orders:read', description: 'Read orders', entitled: true },
    { name: 'orders:write', entitled: true },
  ],
  accounts: [{ email: 'Ada@example.com', role: 'admin', entitlements: ['orders:read'] }],
  serviceAccounts: [
    { name: 'orders', entitlements: ['orders:read'], limits: { rate: { limit: 5, windowSeconds: 60 } } },
  ],
  issuers: [{ url: 'https://gitlab.com' }],
  keys: [
    { sha256, serviceAccount: 'orders', nickname: 'first', scopes: ['keyreeve:verify', 'orders:read'] },
    {
      sha256: sha256Of('second'),
      serviceAccount: 'orders',
      nickname: 'second',
      limits: { quota: { limit: 9, per: 'day' } },
    },
  ],
  webhooks: [
    { name: 'siem', url: 'https://example.com/hooks', events: ['api_key.deleted'], secretFile: 'webhook.secret' },
  ],
} as const satisfies Content;
const created = [
  'create scope orders:read',
  'create scope orders:write',
  'create account ada@example.com',
  'create service_account orders',
  'create issuer https://gitlab.com',
  `create key ${sha256.slice(0, 24)}`,
  `create key ${sha256Of('second').slice(0, 24)}`,
  'create webhook siem',
];

onEachInstallation('a file creates what it states, and applied twice changes nothing', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db);
  const file = folder.load({ generation: 1, ...full });
  assert.deepEqual(await applied(services, file, { isDryRun: true }), created);
  assert.deepEqual(await listAuditEvents(db), [], 'a dry run changes nothing');
  assert.equal(await verified(services, 'orders'), 'malformed', 'no instance looks for keys of other systems yet');
  assert.deepEqual(await applied(services, file), created);
  assert.equal(await verified(services, 'orders'), 'accepted keyreeve:verify orders:read');
  const events = await listAuditEvents(db);
  assert.deepEqual(
    events.map(({ action }) => action),
    'scope.set scope.set account.created account.invited account.entitlements_set service_account.created account.entitlements_set account.limits_set issuer.created api_key.created api_key.created webhook.created installation.file_applied'.split(
      ' ',
    ),
  );
  for (const { details } of events) assert.match(details ?? '', /"source":"apply"/);
  const [endpoint] = await services.webhooks.endpoints.list();
  assert.equal(endpoint?.url, 'https://example.com/hooks');

  assert.deepEqual(await applied(services, file), []);
  assert.deepEqual(await applied(servicesOn(db), folder.load({ generation: 1, ...full })), []);
  assert.equal((await listAuditEvents(db)).length, events.length);
});

onEachInstallation(
  'a later generation changes what it states otherwise, also what was changed by hand',
  async ({ db }) => {
    using folder = newApplyFolder();
    const services = servicesOn(db);
    await applied(services, folder.load({ generation: 1, ...full }));
    const id = services.apiKeys.idOf(sha256);
    const owner = await services.apiKeys.ownerOf(id);
    await services.keyChanges.change(operator, owner, id, { nickname: 'renamed', scopes: [] });
    assert.equal(await verified(services, 'orders'), 'accepted');
    // A start applies a generation once.
    assert.deepEqual(await applied(services, folder.load({ generation: 1, ...full }), { isStart: true }), []);
    assert.equal(await verified(services, 'orders'), 'accepted');
    assert.deepEqual(await applied(services, folder.load({ generation: 1, ...full })), [
      `change key ${sha256.slice(0, 24)} nickname scopes`,
    ]);
    writeFileSync(folder.secretPath, signingSecret(2));
    const changed = {
      ...full,
      scopes: [{ name: 'orders:read', description: 'Orders' }],
      serviceAccounts: [{ name: 'orders', entitlements: ['orders:read', 'orders:write'], limits: {} }],
      keys: [{ ...full.keys[0], scopes: ['orders:read'] }],
      webhooks: [{ ...full.webhooks[0], events: ['api_key.created'] }],
    } satisfies Content;
    assert.deepEqual(await applied(services, folder.load({ generation: 2, ...changed }), { isStart: true }), [
      'change scope orders:read scope',
      'change service_account orders entitlements limits',
      `change key ${sha256.slice(0, 24)} scopes`,
      'change webhook siem events secret',
    ]);
    assert.equal(await verified(services, 'orders'), 'accepted orders:read');
    assert.equal(await verified(services, 'second'), 'accepted', 'what a file no longer names stays');
  },
);

onEachInstallation('an older generation, and another file of the same one, are rejected', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db);
  await applied(services, folder.load({ generation: 2, scopes: [{ name: 'a' }] }));
  const before = await listAuditEvents(db);
  await assert.rejects(applied(services, folder.load({ generation: 1, scopes: [{ name: 'a' }, { name: 'b' }] })), {
    message: 'The file has the generation 1, and one of the generation 2 was applied. Use the newer file.',
  });
  await assert.rejects(applied(services, folder.load({ generation: 2, scopes: [{ name: 'b' }] }), { isStart: true }), {
    message: 'Another file of the generation 2 was applied. Increase the generation with every change of the file.',
  });
  assert.deepEqual(await listAuditEvents(db), before);
  // White space and the order of members do not matter.
  assert.deepEqual(await applied(services, folder.load('{ "scopes":\n [{"name": "a"}], "generation": 2 }')), []);
});

onEachInstallation('what was deleted by hand is never created again, also under another name', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db);
  const file = folder.load({ generation: 1, ...full });
  await applied(services, file);
  const id = services.apiKeys.idOf(sha256);
  await services.apiKeys.delete(operator, await services.apiKeys.ownerOf(id), id);
  await services.scopeCatalogue.delete(operator, 'orders:write');
  const [endpoint] = await services.webhooks.endpoints.list();
  await services.webhooks.endpoints.delete(operator, endpoint?.id ?? '');
  const [issuer] = await services.issuers.list(operator, null);
  await services.issuers.remove(operator, { id: issuer?.id ?? 0 });
  const { id: person } = await services.accounts.find('ada@example.com');
  await services.accounts.delete(operator, person);
  for (let start = 0; start < 10; start++) {
    const restarted = servicesOn(db, now + 60_000 * start);
    assert.deepEqual(await applied(restarted, file, { isStart: true }), []);
    assert.equal(await verified(restarted, 'orders'), 'not_found');
  }
  const kept = [
    'keep_deleted scope orders:write',
    'keep_deleted account ada@example.com',
    'keep_deleted issuer https://gitlab.com',
    `keep_deleted key ${sha256.slice(0, 24)}`,
    'keep_deleted webhook siem',
  ];
  assert.deepEqual(await applied(services, file), kept);
  const moved = {
    ...full,
    serviceAccounts: [...full.serviceAccounts, { name: 'other' }],
    keys: [{ sha256, serviceAccount: 'other', nickname: 'another', scopes: ['keyreeve:verify'] }],
  } satisfies Content;
  assert.deepEqual(await applied(services, folder.load({ generation: 2, ...moved })), [
    ...kept.slice(0, 2),
    'create service_account other',
    ...kept.slice(2),
  ]);
  // The deletion of a service account deletes its keys.
  const { id: owner } = await services.accounts.findById(
    await services.apiKeys.ownerOf(services.apiKeys.idOf(sha256Of('second'))),
  );
  await services.serviceAccounts.delete(operator, owner);
  const second = { sha256: sha256Of('second'), serviceAccount: 'other', nickname: 'second' };
  assert.deepEqual(
    await applied(
      services,
      folder.load({ generation: 3, serviceAccounts: [{ name: 'orders' }, { name: 'other' }], keys: [second] }),
    ),
    ['keep_deleted service_account orders', `keep_deleted key ${second.sha256.slice(0, 24)}`],
  );
  assert.equal(await verified(services, 'second'), 'not_found');
});

onEachInstallation('only absent entries are deleted, and with prune what apply created', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db);
  const eve = await addAccount(db, 'eve');
  await addServiceAccount(db, [eve], 'byhand');
  await services.scopeCatalogue.set(operator, 'by:hand', {});
  const byHand = {
    scopes: [...full.scopes, { name: 'by:hand' }],
    accounts: [...full.accounts, { email: 'eve@example.com' }],
  };
  assert.deepEqual(await applied(services, folder.load({ generation: 1, ...full, ...byHand })), created);
  assert.deepEqual(await applied(services, folder.load({ generation: 2 })), []);
  assert.equal(await verified(services, 'orders'), 'accepted keyreeve:verify orders:read');
  const absent = { keys: [{ sha256, state: 'absent' }], accounts: [{ email: 'ada@example.com', state: 'absent' }] };
  assert.deepEqual(await applied(services, folder.load({ generation: 3, ...absent })), [
    `delete key ${sha256.slice(0, 24)}`,
    'delete account ada@example.com',
  ]);
  assert.equal(await verified(services, 'orders'), 'not_found');
  const id = services.apiKeys.idOf(sha256Of('second'));
  const owner = await services.apiKeys.ownerOf(id);
  const [endpoint] = await services.webhooks.endpoints.list();
  const [issuer] = await services.issuers.list(operator, null);
  assert.deepEqual(await applied(services, folder.load({ generation: 4 }), { prunes: true }), [
    `delete key ${id}`,
    `delete webhook ${endpoint?.id.slice(0, 24)}`,
    `delete issuer ${issuer?.id}`,
    'delete scope orders:read',
    'delete scope orders:write',
    `delete service_account ${owner.slice(0, 24)}`,
  ]);
  assert.equal(await verified(services, 'second'), 'not_found');
  const scopes = (await services.scopeCatalogue.list()).filter(({ deletedAt }) => deletedAt === null);
  assert.deepEqual(
    scopes.map(({ name }) => name),
    ['by:hand'],
  );
  assert.equal((await services.accounts.find('eve@example.com')).id, eve);
  // A rolled-back content with a new generation creates nothing of it again.
  assert.deepEqual(await applied(services, folder.load({ generation: 5, ...full })), [
    'keep_deleted scope orders:read',
    'keep_deleted scope orders:write',
    'keep_deleted account ada@example.com',
    'keep_deleted service_account orders',
    'keep_deleted issuer https://gitlab.com',
    `keep_deleted key ${sha256.slice(0, 24)}`,
    `keep_deleted key ${sha256Of('second').slice(0, 24)}`,
    'keep_deleted webhook siem',
  ]);
});

onEachInstallation('a file with an entry that is not possible changes nothing', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db);
  const eve = await addAccount(db, 'eve');
  await services.apiKeys.createWithHash(operator, eve, { nickname: 'own' }, sha256Of('taken'));
  await services.issuers.add(operator, null, { url: 'https://byhand.example.com' });
  const before = await listAuditEvents(db);
  const rejected = {
    'the key of another account': [
      { keys: [{ sha256: sha256Of('taken'), serviceAccount: 'orders', nickname: 'mine' }] },
      /^\/keys\/0: A key of another account has this secret\.$/,
    ],
    'an entitlement that no scope needs': [
      { serviceAccounts: [{ name: 'orders', entitlements: ['none'] }] },
      /^\/serviceAccounts\/0\/entitlements\/0: none is not a declared scope that needs an entitlement\.$/,
    ],
    'two keys with one nickname': [
      {
        keys: [
          { sha256, serviceAccount: 'orders', nickname: 'same' },
          { sha256: sha256Of('other'), serviceAccount: 'orders', nickname: 'same' },
        ],
      },
      /^\/keys\/1: /,
    ],
    'an internal receiver': [
      { webhooks: [{ ...full.webhooks[0], url: 'https://127.0.0.1/hooks' }] },
      /^\/webhooks\/0: The URL of the endpoint is not allowed/,
    ],
    'an internal issuer': [
      { issuers: [{ url: 'https://127.0.0.1' }] },
      /^\/issuers\/0: The URL of the issuer is not allowed/,
    ],
    'a private key of an issuer': [
      { issuers: [{ url: 'https://id.example.com', jwks: { keys: [{ kty: 'EC', crv: 'P-256', d: 'AQAB' }] } }] },
      /^\/issuers\/0\/jwks\/keys\/0\/d: This member belongs to a private or symmetric key/,
    ],
    'an issuer without a public key': [
      { issuers: [{ url: 'https://id.example.com', jwks: { keys: [{ kty: 'EC' }] } }] },
      /^\/issuers\/0\/jwks: The JWK set has no public key for signatures\.$/,
    ],
    'an id claim that is a list': [
      { issuers: [{ url: 'https://id.example.com', listClaims: ['/groups', '/sub'] }] },
      /^\/issuers\/0\/listClaims\/1: An id claim cannot be a list\.$/,
    ],
    'another preset than that of the issuer': [
      { issuers: [{ url: 'https://byhand.example.com', preset: 'gitlab' }] },
      /^\/issuers\/0\/preset: The issuer was added with no preset, which a file cannot change\./,
    ],
    'an expiry in the past': [
      { keys: [{ sha256, serviceAccount: 'orders', nickname: 'old', expiresAt: '2020-01-01T00:00:00Z' }] },
      /^\/keys\/0\/expiresAt: /,
    ],
  } as const;
  for (const [name, [content, message]] of Object.entries(rejected)) {
    const file = folder.load({
      generation: 1,
      scopes: [{ name: 'a' }],
      serviceAccounts: [{ name: 'orders' }],
      ...content,
    });
    await assert.rejects(applied(services, file), { message }, name);
  }
  assert.deepEqual(await listAuditEvents(db), before);
});

onEachInstallation('of processes that start together, one applies the file', async (opened) => {
  using folder = newApplyFolder();
  const file = folder.load({ generation: 1, ...full });
  const other = await opened.connect();
  const starts = Array.from({ length: rivalsMin }, (_, rival) => {
    const services = servicesOn(rival % 2 === 0 ? opened.db : other);
    return whenDone(() => services.apply.run(operator, file, { isStart: true }));
  });
  const results = await Promise.all(starts);
  assert.equal(results.filter(({ isApplied }) => isApplied).length, 1);
  const actions = (await listAuditEvents(opened.db)).map(({ action }) => action);
  assert.equal(actions.filter((action) => action === 'installation.file_applied').length, 1);
  assert.equal(actions.filter((action) => action === 'account.invited').length, 1);
});

onEachInstallation('an invitation replaces a pending sign-up with the email address', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db);
  const email = { email: 'ada@example.com', canonicalEmail: 'ada@example.com' };
  const signUp = {
    id: 'acc_stranger',
    ...email,
    passwordHash: '',
    role: 'user',
    now,
    isUnverified: true,
    isSignUp: true,
  };
  assert.equal(await createAccount(db, operator, signUp as NewAccount), true);
  const file = folder.load({ generation: 1, accounts: [{ email: 'ada@example.com', role: 'admin' }] });
  assert.deepEqual(await applied(services, file), ['create account ada@example.com']);
  const { id, role } = await services.accounts.find('ada@example.com');
  assert.equal(role, 'admin');
  assert.notEqual(id, 'acc_stranger');
});

onEachInstallation(
  'a person who exists again gets no rights from a file, and an absent entry deletes it',
  async ({ db }) => {
    using folder = newApplyFolder();
    const services = servicesOn(db);
    const ada = { email: 'ada@example.com', entitlements: ['orders:read'] };
    const scopes = [{ name: 'orders:read', entitled: true }];
    await applied(services, folder.load({ generation: 1, scopes, accounts: [ada] }));
    await services.accounts.delete(operator, (await services.accounts.find(ada.email)).id);
    const again = await addAccount(db, 'ada');
    const second = folder.load({ generation: 2, scopes, accounts: [ada] });
    assert.deepEqual(await applied(services, second), ['keep_deleted account ada@example.com']);
    const absent = folder.load({ generation: 3, accounts: [{ email: ada.email, state: 'absent' }] });
    assert.deepEqual(await applied(services, absent), ['delete account ada@example.com']);
    await assert.rejects(services.accounts.findById(again));
  },
);
