/** The Helm chart with 100 combinations of values: what is rendered is valid, restricted, and publishes no verification. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { routePaths } from '../../../../scripts/published-paths.ts';
import { assertRestricted, assertValid, forwards, publishedBy, violationsOf } from './helm-accepted.ts';
import { everything, manifestsOf, podOf, required, skip, uploaded, type Manifest, type Values } from './helm-chart.ts';
import { customChecks, skipWithoutSchemas } from './helm-schemas.ts';
import { randomFrom } from '../revocation-check/random-history.ts';

const combinations = 100;

const restricted = {
  name: 'sidecar',
  image: 'images.example.com/sidecar:1',
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
};
const postgres = { kind: 'postgres', urlSecret: { name: 'database', key: 'uri' } };

/** Of each list, a combination has one. The members of maps in `settings` come together. */
const choices: readonly (readonly Values[])[] = [
  [
    {},
    { database: { kind: 'sqlite', storage: { existingClaim: 'mine' } }, seLinuxOptions: { level: 's0:c1,c2' } },
    { database: { kind: 'sqlite', storage: { size: '1Gi', storageClassName: 'fast' } } },
    { database: postgres },
    { database: { ...postgres, ca: { secret: 'database-ca' } }, replicas: 2 },
    { database: { ...postgres, ca: { configMap: 'trust', key: 'bundle.pem' } }, replicas: 3 },
  ],
  [{}, { fullnameOverride: 'accounts' }, { fullnameOverride: `k${'a'.repeat(49)}` }],
  [{}, { commonLabels: { team: 'identity', tier: 'auth' } }],
  [{}, { podLabels: { team: 'other' }, podAnnotations: { 'example.com/c': 'd' } }],
  [{}, { deletionJournal: { existingClaim: 'deletions' } }],
  [{}, { bootstrap: { content: { generation: 1 } } }, { bootstrap: { existingSecret: 'bootstrap' } }],
  [{ backup: uploaded }, { backup: { existingClaim: 'backups', podLabels: { tier: 'backup' } } }],
  [{}, { verifiers: 1 }, { verifiers: 2, networkPolicy: { verificationClients: [{ podSelector: {} }] } }],
  [{}, { smtpUrlSecret: { name: 'mail' }, ssoClientSecret: { name: 'sso' } }],
  [{}, { settings: { KEYREEVE_CONSOLE_URL: 'https://console.example.com', KEYREEVE_KEY_PREFIX: 'acme' } }],
  [{}, { service: { type: 'LoadBalancer', port: 8080, annotations: { 'example.com/lb': 'internal' } } }],
  [{}, { publishVerification: true }],
  [{}, { ingress: { enabled: true } }, { ingress: { enabled: true, host: 'a.example.com', tlsSecretName: 'tls' } }],
  [
    {},
    { httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } },
    { httpRoute: { enabled: true, parentRefs: [{ name: 'a', namespace: 'b' }], hostnames: ['a.example.com'] } },
  ],
  [{}, { networkPolicy: { enabled: false } }, { networkPolicy: { clients: [{ podSelector: {} }] } }],
  [{}, { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true, labels: { release: 'prometheus' } } }],
  [{}, { grafanaDashboard: { enabled: true, annotations: { grafana_folder: 'Accounts' } } }],
  [{}, { serviceAccount: { name: 'mine' } }],
  [{}, { extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/extra/ca.pem' }] }],
  [
    {},
    {
      extraVolumes: [{ name: 'extra', configMap: { name: 'extra' } }],
      extraVolumeMounts: [{ name: 'extra', mountPath: '/extra', readOnly: true }],
    },
  ],
  [{}, { extraContainers: [restricted] }],
  [
    {},
    {
      extraObjects: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ include "keyreeve.name" . }}-extra' }, data: {} },
        'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-text',
      ],
    },
  ],
  [{}, { podDisruptionBudget: { maxUnavailable: '50%' }, priorityClassName: 'high' }],
  [
    {},
    {
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
      tolerations: [{ operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
    },
  ],
  [{}, { topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }] }],
];

/** Of two maps under one name, both sets of members. */
function merged(one: Values, other: Values): Values {
  const isMap = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  return Object.entries(other).reduce<Values>((all, [name, value]) => {
    const earlier = all[name];
    return { ...all, [name]: isMap(earlier) && isMap(value) ? merged(earlier, value) : value };
  }, one);
}

const random = randomFrom(31);
const randomPicks = (): readonly number[] => choices.map((options) => Math.floor(random() * options.length));

/** The pairs of options that a combination has. */
const pairsOf = (picks: readonly number[]): readonly string[] =>
  picks.flatMap((pick, index) => picks.slice(0, index).map((other, before) => [before, other, index, pick].join()));
const pairs = new Set<string>();
/** Each is the one of 20 that has the most new pairs. */
const picked = Array.from({ length: combinations }, () => {
  const candidates = Array.from({ length: 20 }, () => {
    const picks = randomPicks();
    return { picks, added: pairsOf(picks).filter((pair) => !pairs.has(pair)) };
  });
  const best = candidates.reduce((one, other) => (other.added.length > one.added.length ? other : one));
  for (const pair of best.added) pairs.add(pair);
  return best.picks;
});
const valuesOf = (picks: readonly number[]): Values =>
  picks.reduce<Values>((values, pick, index) => merged(values, choices[index]![pick]!), required);

suite('the Helm chart with 100 combinations of values', { skip: skip || skipWithoutSchemas }, () => {
  const all = picked.map((picks) => {
    const values = valuesOf(picks);
    return { values, manifests: manifestsOf(values) };
  });

  test('every two options of two values are together in a combination', () => {
    const possible = choices.flatMap((options, index) =>
      choices.slice(0, index).map((others) => options.length * others.length),
    );
    assert.equal(
      pairs.size,
      possible.reduce((sum, count) => sum + count, 0),
    );
  });

  test('Kubernetes 1.27 and 1.37 accept every object, without unknown members', () => {
    assertValid(all.flatMap(({ manifests }) => manifests));
  });

  test('the Gateway API and the Prometheus Operator accept every object, without unknown members', () => {
    const checks = customChecks();
    const custom = all.flatMap(({ manifests }) => manifests).filter(({ kind }) => checks.has(kind));
    assert.deepEqual(new Set(custom.map(({ kind }) => kind)), new Set(checks.keys()));
    const wrong = custom.flatMap((manifest) => checks.get(manifest.kind)!.flatMap((check) => check(manifest)));
    assert.deepEqual(wrong, []);
    const [route] = custom.filter(({ kind }) => kind === 'HTTPRoute');
    const misspelt = { ...route!, spec: { ...route!.spec, hostNames: [] } };
    for (const check of checks.get('HTTPRoute')!) assert.match(check(misspelt).join(), /hostNames/);
  });

  test('every pod is restricted', () => {
    for (const { manifests } of all) assertRestricted(manifests);
    const pod = podOf(manifestsOf(everything));
    const [own] = pod.containers;
    const withContext = (context: object) => [{ ...own!, securityContext: { ...own!.securityContext, ...context } }];
    for (const [wrong, expected] of [
      [{ ...pod, hostNetwork: true }, ['hostNetwork']],
      [{ ...pod, volumes: [{ name: 'host', hostPath: { path: '/' } }] }, ['host: hostPath']],
      [{ ...pod, containers: withContext({ allowPrivilegeEscalation: true }) }, ['keyreeve: allowPrivilegeEscalation']],
      [{ ...pod, containers: withContext({ capabilities: { drop: ['NET_RAW'] } }) }, ['keyreeve: capabilities']],
      [{ ...pod, containers: withContext({ runAsUser: 0 }) }, ['keyreeve: runAsUser']],
      [{ ...pod, securityContext: {} }, ['keyreeve: runAsNonRoot', 'keyreeve: seccompProfile']],
    ] as const)
      assert.deepEqual(violationsOf(wrong), expected);
  });

  test('every object has the common labels and a name of its own', () => {
    for (const { values, manifests } of all) {
      const extra = ((values['extraObjects'] ?? []) as readonly unknown[]).length;
      const own = manifests.filter(({ metadata: { name } }) => extra === 0 || !/-(?:extra|text)$/.test(name));
      const common = (values['commonLabels'] ?? {}) as Readonly<Record<string, string>>;
      for (const { kind, metadata } of own)
        for (const [name, value] of Object.entries(common)) assert.equal(metadata.labels?.[name], value, kind);
      const names = manifests.map(({ kind, metadata: { name } }) => `${kind} ${name}`);
      assert.deepEqual([...new Set(names)], names);
      for (const {
        metadata: { name },
      } of own)
        assert.ok(name.length <= 63, name);
    }
  });

  test('every route is published, and those that verify credentials only on request', () => {
    // With a value for each parameter.
    const requested = routePaths().map((path) => path.replaceAll(/:\w+/g, '1').replace('*', 'x/y'));
    const verification = ['/auth/forward', '/auth/forward/x', '/auth/verify', '/auth/verify/batch', '/auth/introspect'];
    const published = (manifests: readonly Manifest[], kind: string) =>
      publishedBy(manifests.filter((manifest) => manifest.kind === kind));
    for (const { values, manifests } of all)
      for (const kind of ['Ingress', 'HTTPRoute'].filter((name) =>
        manifests.some((manifest) => manifest.kind === name),
      )) {
        const rules = published(manifests, kind);
        assert.deepEqual(
          requested.filter((path) => !forwards(rules, path)),
          [],
        );
        const isPublished = values['publishVerification'] === true;
        assert.deepEqual(
          verification.filter((path) => forwards(rules, path)),
          isPublished ? verification : [],
        );
        for (const path of ['/metrics', '/auth', '/admin', '/auth/verify/x', '/auth/tokens', '/nowhere'])
          assert.equal(forwards(rules, path), false, path);
      }
  });
});
