/** The requests of programs on devices: their beginning (RFC 8628 section 3.1), and the polls that fetch the key (section 3.4). */
import { isProgramId, limits, type DeviceAuthorization } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { randomId } from '../../foundation/crypto/secret.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { splitScopes } from '../api-keys/scopes.ts';
import type { PendingIds } from '../deletion-journal/pending-changes.ts';
import { findProgram, type ProgramRow } from '../programs/store.ts';
import type { ApprovalLimits } from '../rate-limits/approval-limits.ts';
import type { ApprovalCodes } from './codes.ts';
import { invalidDeviceCode, type DeviceKeys, type IssuedKey } from './device-keys.ts';
import { PollPace } from './poll-pace.ts';
import { hasEnded, lifetimeSecondsOf, rangeOf, requestMs, type RequestCounts } from './request-state.ts';
import * as store from './store.ts';
import type { RequestRow } from './store.ts';

export interface DeviceRequestsOptions extends Core {
  readonly codes: ApprovalCodes;
  readonly approvalLimits: ApprovalLimits;
  readonly keys: DeviceKeys;
  /** Requests and programs with a change of unknown outcome. */
  readonly pending: { readonly requests: PendingIds<string>; readonly programs: PendingIds<string> };
  /** KEYREEVE_KEY_LIFETIME_DAYS_MAX; 0 for no limit. */
  readonly lifetimeDaysMax: number;
  /** The page on which people enter the code; undefined without a console. */
  readonly verificationUri: string | undefined;
  /** KEYREEVE_CORS_ORIGINS: whose pages may begin a request. */
  readonly corsOrigins: readonly string[];
  readonly counts: RequestCounts;
}

export interface Poll {
  readonly clientId: string;
  readonly deviceCode: string;
  readonly clientIp: string;
}

/** Random codes: two requests hardly ever have the same. */
const attemptsMax = 5;
/** From here on, the transaction counts exactly. Fewer requests begin at once than are missing to the bound. */
const nearBound = 0.9 * limits.deviceRequestsPerProgramMax;

export class DeviceRequests {
  readonly #options: DeviceRequestsOptions;
  readonly #pace = new PollPace();
  readonly #programs: CoalescingReader<string, ProgramRow>;
  readonly #requests: CoalescingReader<Buffer, RequestRow>;
  /** Numbers of outstanding requests, by program. */
  readonly #outstanding: CoalescingReader<string, number>;

  constructor(options: DeviceRequestsOptions) {
    const { clock, db } = options;
    this.#options = options;
    const each = <Key, Row>(find: (key: Key) => Promise<Row | undefined>) =>
      new CoalescingReader((keys: readonly Key[]) => Promise.all(keys.map(find)), db.sharedReads);
    this.#programs = each((id: string) => findProgram(db, id));
    this.#outstanding = each((id: string) => store.countOfProgram(db, id, clock.now()));
    this.#requests = each((hash: Buffer) => store.findByDeviceCode(db, hash));
  }

  /**
   * Rejects pages of other origins: a page could begin requests from the client IP ranges of all its visitors. A poll needs no such check,
   * because a page has no device code.
   * @param site the header Sec-Fetch-Site, which browsers send over HTTPS
   * @throws DomainError `invalid_request`
   */
  assertOrigin(origin: string | undefined, site: string | undefined): void {
    if (origin !== undefined && this.#options.corsOrigins.includes(origin)) return;
    const isOwn = site === undefined ? origin === undefined : site === 'none' || site === 'same-origin';
    if (!isOwn)
      throw new DomainError('invalid_request', { detail: 'A page of an origin that is not listed sent the request.' });
  }

  /**
   * @param scope separated by spaces; empty: all scopes of the program
   * @throws DomainError `invalid_client`, `invalid_scope`, `too_many_device_requests`
   */
  async begin(clientId: string, scope: string, clientIp: string): Promise<DeviceAuthorization> {
    const { approvalLimits, clock, codes, counts, db, lifetimeDaysMax, verificationUri } = this.#options;
    const program = await this.#programOf(clientId);
    if (!isInForce(program)) throw unknownProgram();
    if (verificationUri === undefined)
      throw new DomainError('invalid_client', { detail: 'The console, which approves requests, is off.' });
    const scopes = requestedScopes(program, scope);
    const now = clock.now();
    const clientRange = rangeOf(clientIp);
    await approvalLimits.assertMayBegin(program.id, clientRange, now);
    // By reads: neither rejected clients nor a count of many rows occupy the writer.
    assertMore(await store.outstandingOfRange(db, program.id, clientRange, now), now);
    const isNearBound = ((await this.#outstanding.read(program.id)) ?? 0) >= nearBound;
    const requested = { scopes, lifetimeSeconds: lifetimeSecondsOf(program.lifetimeSeconds, lifetimeDaysMax) };
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const { userCode, deviceCode, userCodeHash, deviceCodeHash } = codes.make();
      const request = { programId: program.id, userCodeHash, deviceCodeHash, clientRange, requested };
      const row = { ...request, id: randomId('apr'), now, expiresAt: now + requestMs };
      if (!(await db.transaction((tx) => this.#beginTx(tx, row, isNearBound)))) continue;
      counts.begun++;
      return {
        device_code: deviceCode.reveal(),
        user_code: userCode,
        verification_uri: verificationUri,
        verification_uri_complete: `${verificationUri}#${userCode}`,
        expires_in: limits.deviceRequestSeconds,
        interval: limits.deviceIntervalSeconds,
      };
    }
    // The program has been removed meanwhile.
    throw unknownProgram();
  }

  async #beginTx(tx: Transaction, request: store.NewRequest, isNearBound: boolean): Promise<boolean> {
    const { programId, clientRange, now } = request;
    await this.#options.approvalLimits.countBeginTx(tx, programId, clientRange, now);
    const ofRange = await store.outstandingOfRange(tx, programId, clientRange, now);
    assertMore(ofRange, now);
    if (isNearBound && (await store.countOfProgram(tx, programId, now)) >= limits.deviceRequestsPerProgramMax) {
      // Replaced, not rejected, so that many ranges together cannot keep all others out.
      if (!(await store.evictTx(tx, request, ofRange.count))) throw tooMany(limits.deviceIntervalSeconds);
    }
    return store.insertRequestTx(tx, request);
  }

  /**
   * Returns the key of an approved request. A poll without result writes nothing.
   * @throws DomainError `invalid_client`, `invalid_grant`, `authorization_pending`, `slow_down`, `access_denied`, `expired_token`,
   *   `unavailable`
   */
  async poll({ clientId, deviceCode, clientIp }: Poll): Promise<IssuedKey> {
    const { clock, codes, keys, pending } = this.#options;
    const program = await this.#programOf(clientId);
    if (!isInForce(program)) throw new DomainError('access_denied');
    const hash = codes.hashOfDeviceCode(deviceCode);
    const row = hash && (await this.#requests.read(hash));
    if (!row || row.programId !== program.id) throw invalidDeviceCode();
    const now = clock.now();
    pending.requests.assertNone(row.id);
    if (row.state === 'denied') throw new DomainError('access_denied');
    if (row.state === 'used') {
      // A thief of the device code elsewhere must not replace the secret of a client that is about to use it.
      if (row.clientRange !== rangeOf(clientIp)) throw invalidDeviceCode();
      return keys.repeat(row, now);
    }
    if (hasEnded(row, now)) throw new DomainError('expired_token');
    if (row.state === 'approved') {
      const issued = await keys.create(row, now);
      this.#pace.forget(row.id);
      return issued;
    }
    throw new DomainError(this.#pace.isTooEarly(row.id, now) ? 'slow_down' : 'authorization_pending');
  }

  /** @throws DomainError `invalid_client`, `unavailable` */
  async #programOf(clientId: string): Promise<ProgramRow> {
    const program = isProgramId(clientId) ? await this.#programs.read(clientId) : undefined;
    if (!program) throw unknownProgram();
    this.#options.pending.programs.assertNone(program.id);
    return program;
  }
}

/** False after a restore that repeated a narrowing: an administrator must state the settings again. */
const isInForce = ({ lifetimeSeconds }: ProgramRow): boolean => lifetimeSeconds > 0;

export const unknownProgram = (): DomainError =>
  new DomainError('invalid_client', { detail: 'No program has this client_id.' });

const tooMany = (retryAfterSeconds: number): DomainError =>
  new DomainError('too_many_device_requests', { retryAfterSeconds });

/** @throws DomainError `too_many_device_requests`, with the time until one of the range expires */
function assertMore({ count, firstExpiresAt }: store.Outstanding, now: number): void {
  if (count < limits.deviceRequestsPerRangeMax) return;
  throw tooMany(Math.max(1, Math.ceil(((firstExpiresAt ?? now) - now) / 1_000)));
}

/** @throws DomainError `invalid_scope` */
function requestedScopes({ scopes }: ProgramRow, scope: string): readonly string[] {
  const allowed = splitScopes(scopes);
  if (scope === '') return allowed;
  const requested = [...new Set(scope.split(' '))];
  const others = requested.filter((one) => !allowed.includes(one));
  if (others.length > 0)
    throw new DomainError('invalid_scope', {
      detail: 'The parameter scope names a scope that the program must not request.',
    });
  return requested;
}
