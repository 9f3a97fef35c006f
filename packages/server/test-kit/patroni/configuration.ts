/** The configuration of Patroni and of HAProxy for the cluster of tests (`patroni-cluster.ts`). */

/** Loopback ports. Other nodes reach a node only at `atNetwork`, and clients of the database only at `own`. */
export interface NodePorts {
  readonly own: { readonly postgres: number; readonly rest: number };
  readonly atNetwork: { readonly postgres: number; readonly rest: number; readonly etcd: readonly number[] };
}

interface PatroniOptions {
  readonly name: string;
  /** Belongs to the user of the server. */
  readonly folder: string;
  readonly ports: NodePorts;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
  readonly password: string;
}

const local = (port: number): string => `127.0.0.1:${port}`;

/** The shortest times that Patroni accepts. The leader’s key expires 20 s after its last renewal. */
const dynamic = {
  ttl: 20,
  loop_wait: 1,
  retry_timeout: 3,
  // Patroni lets a primary recover for this time before it promotes a standby.
  primary_start_timeout: 5,
  synchronous_mode: true,
  synchronous_mode_strict: true,
  synchronous_node_count: 1,
  postgresql: {
    use_pg_rewind: true,
    use_slots: true,
    parameters: {
      max_connections: 200,
      max_wal_size: '128MB',
      min_wal_size: '4MB',
      wal_keep_size: '32MB',
      wal_sender_timeout: '5s',
    },
  },
};

/** JSON, which YAML contains. */
export function patroniConfiguration({ name, folder, ports, programs, password }: PatroniOptions): string {
  const { own, atNetwork } = ports;
  const account = (username: string): object => ({ username, password, sslmode: 'disable', gssencmode: 'disable' });
  const configuration = {
    scope: 'keyreeve',
    name,
    restapi: { listen: local(own.rest), connect_address: local(atNetwork.rest) },
    // Without a search for its members, which would find addresses behind the network of the node.
    etcd3: { hosts: atNetwork.etcd.map(local), use_proxies: true },
    bootstrap: {
      dcs: dynamic,
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { 'wal-segsize': '1' }, 'data-checksums', 'no-sync'],
    },
    postgresql: {
      listen: local(own.postgres),
      connect_address: local(atNetwork.postgres),
      data_dir: `${folder}/data`,
      bin_dir: programs,
      pgpass: `${folder}/pgpass`,
      authentication: { superuser: account('postgres'), replication: account('replicator') },
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
      parameters: {
        unix_socket_directories: '',
        shared_buffers: '32MB',
        dynamic_shared_memory_type: 'mmap',
        // Segments are created, so that a full disk stops the log.
        wal_recycle: 'off',
      },
    },
    watchdog: { mode: 'off' },
  };
  return JSON.stringify(configuration, undefined, 2);
}

interface Forwarding {
  readonly from: number;
  readonly to: number;
}

const haproxyDefaults = `global
  nbthread 1
  maxconn 1000
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
`;

/** The network of one node: what reaches it, and the way to etcd. Without it, the node is cut off. */
export const networkConfiguration = (forwardings: readonly Forwarding[]): string =>
  haproxyDefaults +
  forwardings
    .map(({ from, to }) => `listen port-${from}\n  bind ${local(from)}\n  server target ${local(to)}\n`)
    .join('');

/** As Patroni’s documentation has it, with the shortest intervals of its loop. */
export const frontConfiguration = (port: number, nodes: readonly NodePorts['own'][]): string =>
  `${haproxyDefaults}listen primary
  bind ${local(port)}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map(({ postgres, rest }) => `  server node-${postgres} ${local(postgres)} check port ${rest}\n`).join('')}`;
