/** The Helm chart renders manifests that Kubernetes accepts, restricts the pods, and rejects values that cannot work. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { assertAccepted, assertValid, publishedBy } from './helm-accepted.ts';
import {
  assertConfigured,
  chart,
  kinds,
  manifestsOf,
  notesOf,
  parse,
  podOf,
  postgres,
  render,
  required,
  skip,
  everything,
  uploaded,
  type Template,
  type Values,
} from './helm-chart.ts';
import { root } from './shell-blocks.ts';

const cases: Readonly<Record<string, Values>> = {
  'SQLite with the smallest values': required,
  'SQLite with backups and a volume for the deletion journal': {
    ...required,
    backup: { existingClaim: 'backups' },
    deletionJournal: { existingClaim: 'deletions' },
  },
  'SQLite on a claim that exists, without a policy': {
    ...required,
    database: { kind: 'sqlite', storage: { existingClaim: 'mine' } },
    networkPolicy: { enabled: false },
  },
  'PostgreSQL with three pods': postgres,
  'PostgreSQL with one pod': { ...postgres, replicas: 1 },
};

suite('the Helm chart', { skip }, () => {
  for (const [name, values] of Object.entries(cases)) {
    test(`renders manifests that Kubernetes accepts, with restricted pods: ${name}`, () => assertAccepted(values));

    test(`sets what the service accepts, and no secret: ${name}`, () => assertConfigured(values));
  }

  test('settings that a file of values has without quotation marks keep their values', () => {
    using folder = newTempFolder();
    const path = join(folder.path, 'values.yaml');
    // As YAML, because Helm reads the numbers of JSON in the same way, but JSON has no `off`.
    writeFileSync(
      path,
      'settings: { KEYREEVE_REFRESH_IDLE_TTL_SECONDS: 2592000, KEYREEVE_TRACE_RATIO: 0.01, KEYREEVE_CONSOLE: off, KEYREEVE_LEAK_REPORTS: on }',
    );
    const { env = [] } = podOf(manifestsOf(required, '--values', path)).containers[0]!;
    const valueOf = (name: string): unknown => env.find((variable) => variable.name === name)?.value;
    assert.deepEqual(
      ['REFRESH_IDLE_TTL_SECONDS', 'TRACE_RATIO', 'CONSOLE', 'LEAK_REPORTS'].map((name) => valueOf(`KEYREEVE_${name}`)),
      ['2592000', '0.01', 'off', 'on'],
    );
  });

  test('the host of the Ingress is that of the public URL, without its port', () => {
    const values = { ...required, publicUrl: 'https://auth.example.com:8443', ingress: { enabled: true } };
    const { spec } = manifestsOf(values).find(({ kind }) => kind === 'Ingress')!;
    assert.deepEqual(
      (spec['rules'] as { host: string }[]).map(({ host }) => host),
      ['auth.example.com'],
    );
  });

  test('the notes create an administrator, and report a policy that keeps Prometheus out', () => {
    const monitored = { ...required, serviceMonitor: { enabled: true } };
    assert.match(notesOf(required), /account create \S+ --admin --generate/);
    const policy = /set networkPolicy\.monitoring/;
    assert.match(notesOf(monitored), policy);
    assert.doesNotMatch(notesOf(required), policy);
    assert.doesNotMatch(notesOf({ ...monitored, networkPolicy: { monitoring: [{ podSelector: {} }] } }), policy);
  });

  test('SQLite gets one pod with a volume that an uninstallation keeps', () => {
    const manifests = manifestsOf(required);
    assert.deepEqual(kinds(manifests), [
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'Pod',
      'Service',
      'Service',
      'Service',
      'ServiceAccount',
      'StatefulSet',
    ]);
    const claim = manifests.find(({ kind }) => kind === 'PersistentVolumeClaim');
    assert.deepEqual(claim?.metadata.annotations, { 'helm.sh/resource-policy': 'keep' });
    assert.equal(manifests.find(({ kind }) => kind === 'StatefulSet')?.spec['replicas'], 1);
  });

  test('several pods get a budget of disruptions with one bound, and an update removes none before its successor is ready', () => {
    const manifests = manifestsOf(postgres);
    const { spec } = manifests.find(({ kind }) => kind === 'PodDisruptionBudget')!;
    assert.deepEqual([spec['maxUnavailable'], 'minAvailable' in spec], [1, false]);
    const deployment = manifests.find(({ kind }) => kind === 'Deployment')!;
    assert.deepEqual(
      [deployment.spec['replicas'], deployment.spec['strategy']],
      [3, { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }],
    );
    assert.ok(!kinds(manifestsOf({ ...postgres, replicas: 1 })).includes('PodDisruptionBudget'));
  });

  test('only the peers of `monitoring` reach the port of metrics, and those of `verificationClients` verifiers', () => {
    const ports = (values: Values): unknown[] => {
      const policy = manifestsOf(values).find(({ kind }) => kind === 'NetworkPolicy')!;
      return (policy.spec['ingress'] as { ports: { port: string }[]; from?: unknown[] }[]).map(
        ({ ports: [port], from }) => [port?.port, from?.length],
      );
    };
    assert.deepEqual(ports(postgres), [['http', undefined]]);
    // Beside the listed peers, the pod of `helm test`; and with published verification, the clients also reach verifiers.
    assert.deepEqual(ports(everything), [
      ['http', 2],
      ['verify', 2],
      ['admin', 1],
    ]);
    assert.deepEqual(ports({ ...everything, publishVerification: true })[1], ['verify', 3]);
    const open = { ...everything, publishVerification: true, networkPolicy: { verificationClients: [{}] } };
    assert.deepEqual(ports(open)[1], ['verify', undefined]);
  });

  test('the Secret or ConfigMap of the authority of the database is beside the other secrets', () => {
    for (const [ca, source] of [
      [{ secret: 'a' }, { secret: { name: 'a', items: [{ key: 'ca.crt', path: 'database-ca' }] } }],
      [{ configMap: 'b', key: 'c' }, { configMap: { name: 'b', items: [{ key: 'c', path: 'database-ca' }] } }],
    ] as const) {
      const pod = podOf(manifestsOf({ ...postgres, database: { kind: 'postgres', urlSecret: { name: 'k' }, ca } }));
      const [secrets] = pod.volumes!.filter(({ name }) => name === 'secrets');
      assert.deepEqual(secrets?.projected?.sources.at(-1), source);
      const [value] = pod.containers[0]!.env!.filter(({ name }) => name === 'KEYREEVE_DATABASE_CA');
      assert.equal(value?.value, '/run/secrets/keyreeve/database-ca');
    }
  });

  test('a probe waits longer than the service waits for its database', () => {
    const [{ readinessProbe } = {}] = podOf(manifestsOf(required)).containers;
    assert.ok(readinessProbe!.timeoutSeconds * 1000 > limits.postgresAnswerMsMax);
  });

  test('several pods are spread over zones and nodes, and stay schedulable', () => {
    assert.deepEqual(
      podOf(manifestsOf(postgres)).topologySpreadConstraints?.map((each) => [each.topologyKey, each.whenUnsatisfiable]),
      [
        ['topology.kubernetes.io/zone', 'ScheduleAnyway'],
        ['kubernetes.io/hostname', 'ScheduleAnyway'],
      ],
    );
    assert.equal(podOf(manifestsOf(required)).topologySpreadConstraints, undefined);
  });

  test('the alerts and the dashboard are the files of ops/, with links to the installation', () => {
    const publicUrl = 'https://sign-in.example.org';
    const fileAt = (path: string): string =>
      readFileSync(join(root, path), 'utf8').replaceAll('https://auth.example.com', publicUrl);
    const manifests = manifestsOf({
      ...required,
      publicUrl,
      prometheusRule: { enabled: true },
      grafanaDashboard: { enabled: true },
    });
    const { spec } = manifests.find(({ kind }) => kind === 'PrometheusRule')!;
    assert.deepEqual([spec], parse(fileAt('ops/prometheus/rules.yml')));
    assert.match(JSON.stringify(spec), /https:\/\/sign-in\.example\.org\/docs\/operating#keyreevedown/);
    const { data, metadata } = manifests.find(({ kind }) => kind === 'ConfigMap')!;
    assert.equal(data?.['keyreeve.json'], fileAt('ops/grafana/keyreeve.json').trimEnd());
    assert.equal(metadata.labels?.['grafana_dashboard'], '1');
  });

  test('verifications from outside go to the verifiers, if there are any', () => {
    const services = (values: Values) =>
      publishedBy(manifestsOf({ ...required, publishVerification: true, ingress: { enabled: true }, ...values }))
        .filter(({ path }) => path.startsWith('/auth/verify'))
        .map(({ service }) => service);
    assert.deepEqual(services({}), ['release-keyreeve', 'release-keyreeve']);
    assert.deepEqual(services({ verifiers: 1 }), ['release-keyreeve-verify', 'release-keyreeve-verify']);
  });

  test('a console with a host of its own is published there too', () => {
    const values = {
      ...required,
      settings: { KEYREEVE_CONSOLE_URL: 'https://console.example.com' },
      ingress: { enabled: true, tlsSecretName: 'tls' },
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
    };
    const manifests = manifestsOf(values);
    const hosts = ['auth.example.com', 'console.example.com'];
    const { spec: route } = manifests.find(({ kind }) => kind === 'HTTPRoute')!;
    const { spec: ingress } = manifests.find(({ kind }) => kind === 'Ingress')!;
    assert.deepEqual(route['hostnames'], hosts);
    assert.deepEqual(
      (ingress['rules'] as { host: string }[]).map(({ host }) => host),
      hosts,
    );
    assert.deepEqual(ingress['tls'], [{ hosts, secretName: 'tls' }]);
  });

  test('a ServiceMonitor selects the service of metrics only', () => {
    const manifests = manifestsOf({
      ...required,
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
    });
    const { spec } = manifests.find(({ kind }) => kind === 'ServiceMonitor')!;
    assert.deepEqual(spec['endpoints'], [{ port: 'admin', path: '/metrics', interval: '30s' }]);
    assert.deepEqual(spec['selector'], {
      matchLabels: {
        'app.kubernetes.io/name': 'keyreeve',
        'app.kubernetes.io/instance': 'release',
        'app.kubernetes.io/component': 'admin',
      },
    });
  });

  test('the schema has every value, and rejects unknown ones in all parts', () => {
    interface Part {
      readonly properties?: Readonly<Record<string, Part>>;
      readonly additionalProperties?: unknown;
    }
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Part;
    const [values] = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));
    const compare = ({ properties, additionalProperties }: Part, part: object, path: string): void => {
      if (!properties) return;
      assert.equal(additionalProperties, false, path);
      // Helm adds `global`.
      const known = Object.keys(properties).filter((name) => name !== 'global');
      assert.deepEqual(known.toSorted(), Object.keys(part).toSorted(), path);
      for (const [name, value] of Object.entries(part)) compare(properties[name]!, value as object, `${path}.${name}`);
    };
    compare(schema, values!, 'values');
  });

  for (const [name, { values, message }] of Object.entries({
    'no public URL': { values: { ...required, publicUrl: undefined }, message: /publicUrl/ },
    'a public URL with a path': { values: { ...required, publicUrl: 'https://a.example/x' }, message: /publicUrl/ },
    'no image': { values: { ...required, image: {} }, message: /repository/ },
    'no Secret of the master key': { values: { ...required, masterKeySecret: {} }, message: /masterKeySecret/ },
    'no trusted proxies': { values: { ...required, trustedProxies: '' }, message: /trustedProxies is required/ },
    'several pods with SQLite': { values: { ...required, replicas: 2 }, message: /replicas above 1 require/ },
    'no pods': { values: { ...required, replicas: 0 }, message: /replicas/ },
    'PostgreSQL without its URL': {
      values: { ...required, database: { kind: 'postgres' } },
      message: /requires database\.urlSecret\.name/,
    },
    'a secret in the settings': {
      values: { ...required, settings: { KEYREEVE_MASTER_KEY: 'x' } },
      message: /invalid propertyName/,
    },
    'a setting of another program': {
      values: { ...required, settings: { NODE_OPTIONS: 'x' } },
      message: /invalid propertyName/,
    },
    'an authority for SQLite': {
      values: { ...required, database: { kind: 'sqlite', ca: { secret: 'a' } } },
      message: /database\.ca requires database\.kind postgres/,
    },
    'two authorities': {
      values: {
        ...postgres,
        database: { kind: 'postgres', urlSecret: { name: 'k' }, ca: { secret: 'a', configMap: 'b' } },
      },
      message: /choose one/,
    },
    'two files to apply': {
      values: { ...required, bootstrap: { content: { generation: 1 }, existingSecret: 'a' } },
      message: /bootstrap\.content and bootstrap\.existingSecret are both set/,
    },
    'an HTTPRoute without a Gateway': {
      values: { ...required, httpRoute: { enabled: true } },
      message: /httpRoute\.parentRefs is required/,
    },
    'a setting among other variables': {
      values: { ...required, extraEnv: [{ name: 'KEYREEVE_MASTER_KEY', value: 'x' }] },
      message: /extraEnv/,
    },
    'a volume of the chart': {
      values: { ...required, extraVolumes: [{ name: 'secrets', emptyDir: {} }] },
      message: /extraVolumes/,
    },
    'a label of the chart': {
      values: { ...required, commonLabels: { 'app.kubernetes.io/name': 'x' } },
      message: /invalid propertyName 'app\.kubernetes\.io\/name'/,
    },
    'an unknown value of a part': { values: { ...required, httpRoute: { hosts: [] } }, message: /hosts/ },
    'no backup to keep': { values: { ...required, backup: { existingClaim: 'b', keep: 0 } }, message: /keep/ },
    'two places for backups': {
      values: { ...required, backup: { ...uploaded, existingClaim: 'b' } },
      message: /existingClaim/,
    },
    'storage without a secret': { values: { ...required, backup: { to: 's3://backups' } }, message: /name/ },
    'recipients of a claim': {
      values: { ...required, backup: { existingClaim: 'b', recipients: uploaded.recipients } },
      message: /recipients/,
    },
    'an unknown value': { values: { ...required, replicaCount: 2 }, message: /replicaCount/ },
  })) {
    test(`rejects values that cannot work: ${name}`, () => {
      const { status, stderr } = render(values);
      assert.notEqual(status, 0);
      assert.match(stderr, message);
    });
  }

  for (const [kind, values] of Object.entries({ sqlite: required, postgres: everything })) {
    test(`the backup job has the image, the settings, the rights and the volumes of the pods: ${kind}`, () => {
      const manifests = manifestsOf({ ...values, backup: { existingClaim: 'backups', keep: 7 } });
      const { metadata, spec } = manifests.find((manifest) => manifest.kind === 'CronJob')!;
      assert.equal(metadata.name, 'release-keyreeve-backup');
      const { metadata: ofJob, spec: pod } = (spec as { jobTemplate: { spec: { template: Template } } }).jobTemplate
        .spec.template;
      const ofChart = podOf(manifests);
      const [container, service] = [pod.containers[0]!, ofChart.containers[0]!];
      assert.deepEqual(container.args, ['backup', '--to', '/backups', '--keep', '7']);
      for (const name of ['image', 'securityContext', 'env'] as const) assert.deepEqual(container[name], service[name]);
      for (const name of ['securityContext', 'enableServiceLinks', 'automountServiceAccountToken'] as const)
        assert.deepEqual(pod[name], ofChart[name]);
      assert.deepEqual(container.volumeMounts?.slice(0, service.volumeMounts?.length), service.volumeMounts);
      assert.deepEqual(pod.volumes?.slice(0, ofChart.volumes?.length), ofChart.volumes);

      const { selector } = manifests.find((manifest) => manifest.kind === 'Service')!.spec as {
        selector: Record<string, string>;
      };
      const isSelected = Object.entries(selector).every(([name, value]) => ofJob.labels[name] === value);
      assert.equal(isSelected, false, 'a Service must not send requests to the job');
      assert.equal(pod.affinity?.podAffinity !== undefined, kind === 'sqlite', 'the volume is on the node of the pod');
    });
  }

  test('with storage, only the backup job has its secret, and uploads encrypted', () => {
    const manifests = manifestsOf({ ...required, backup: uploaded });
    const { spec } = manifests.find((manifest) => manifest.kind === 'CronJob')!;
    const pod = (spec as { jobTemplate: { spec: { template: Template } } }).jobTemplate.spec.template.spec;
    const [container, service] = [pod.containers[0]!, podOf(manifests).containers[0]!];
    assert.deepEqual(container.args, ['backup', '--to', uploaded.to, '--recipient', uploaded.recipients[0]]);
    const secret = { name: 'KEYREEVE_STORAGE_SECRET_ACCESS_KEY_FILE', value: '/run/secrets/storage/secret' };
    assert.deepEqual(container.env, [...(service.env ?? []), secret]);
    const sources = [{ secret: { name: 'storage', items: [{ key: 'storage-secret', path: 'secret' }] } }];
    assert.deepEqual(
      pod.volumes?.find(({ name }) => name === 'storage-secret'),
      { name: 'storage-secret', projected: { defaultMode: 0o440, sources } },
    );
    assert.ok(!JSON.stringify(podOf(manifests)).includes('storage'), 'the pods have nothing of it');
    assert.doesNotMatch(notesOf({ ...required, backup: uploaded }), /No backups are made/);
  });

  test('the name of the backup job has the length that Kubernetes permits', () => {
    const values = { ...required, backup: { existingClaim: 'backups' } };
    const args = ['template', `keyreeve-${'a'.repeat(44)}`, chart, '--values', '-'];
    const { stdout } = spawnSync('helm', args, { encoding: 'utf8', input: JSON.stringify(values) });
    const job = parse(stdout).find(({ kind }) => kind === 'CronJob');
    assert.ok(job && job.metadata.name.length <= 52, 'the name is short enough');
  });

  test('names of digits are texts', () => {
    const secret = { name: '1', key: '2' };
    const values = {
      ...required,
      masterKeySecret: secret,
      smtpUrlSecret: secret,
      ssoClientSecret: secret,
      deletionJournal: { existingClaim: '3' },
      backup: { existingClaim: '4' },
      bootstrap: { existingSecret: '5' },
      serviceAccount: { name: '6' },
      priorityClassName: '7',
      ingress: { enabled: true, className: '8', tlsSecretName: '9' },
    };
    const databases = [
      { kind: 'sqlite', storage: { storageClassName: '10' } },
      { kind: 'sqlite', storage: { existingClaim: '11' } },
      { kind: 'postgres', urlSecret: secret, ca: { secret: '12', key: '13' } },
    ];
    for (const database of databases) {
      const input = JSON.stringify({ ...values, database });
      const { stdout } = spawnSync('helm', ['template', '123', chart, '--values', '-'], { encoding: 'utf8', input });
      const manifests = parse(stdout);
      assert.ok(manifests.length > 5);
      assertValid(manifests);
    }
  });

  test('without a claim for the backups there is no job, and the notes say so', () => {
    assert.ok(!kinds(manifestsOf(required)).includes('CronJob'));
    const none = /No backups are made: set backup\.existingClaim/;
    assert.match(notesOf(required), none);
    assert.doesNotMatch(notesOf({ ...required, backup: { existingClaim: 'backups' } }), none);
  });
});
