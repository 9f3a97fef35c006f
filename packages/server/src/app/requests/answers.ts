/** Authenticates the caller of a request, waits for its turn, parses the request, and calls the handler of the route. */
import type { IncomingMessage } from 'node:http';
import { isBounded, limits, verifyBatch, type RefreshTokenBody, type RouteContract } from '@keyreeve/contract';
import { accountShare, currentShare, rangeShare, runInShare, type WorkClass } from '../../foundation/database/share.ts';
import { ipRange } from '../../foundation/ip-address.ts';
import { readConsoleRequest } from '../../modules/console/request-checks.ts';
import { queryOf, type RouteResponse } from '../../http/response.ts';
import { callerOf, consoleCallerOf, type Authenticators } from '../authenticate.ts';
import { authenticateService } from '../service-caller.ts';
import type { Console } from '../../modules/console/routes.ts';
import type { ClientIps } from './client-ips.ts';
import { AccountTurns } from '../../http/account-turns.ts';
import { bodyReader, hasShortBody, toRecord, type BeginBody, type ReadBody } from '../../http/body.ts';
import { credentialOf } from '../../http/request-credential.ts';
import { delayRejection, RequestGate, type RequestBounds, type RequestSlots } from '../../http/request-gate.ts';
import type { RequestTurns } from '../../http/request-turns.ts';
import type { AnyCaller, Call, Route, ServiceCaller } from '../../http/route.ts';
import type { Match } from '../../http/router.ts';
import { Turns } from '../../http/turns.ts';
import { UnfinishedBodies } from '../../http/unfinished-bodies.ts';
import { validator } from '../../http/validation.ts';
import { headerOf, RequestCall } from './request-call.ts';

/** The credential of a request. */
interface Presented {
  /** Undefined without one. */
  readonly text: string | undefined;
  readonly authenticate: () => Promise<AnyCaller | undefined>;
}

/** Made once for each operation. */
interface RequestParsers {
  readonly readBody: ReadBody | undefined;
  readonly checkQuery: ((value: unknown) => unknown) | undefined;
}

interface AnswerOptions extends Authenticators {
  readonly console: Console | undefined;
  readonly bounds: RequestBounds;
}

interface RequestSources {
  readonly routes: readonly Route[];
  readonly turns: RequestTurns;
  readonly clientIps: ClientIps;
}

export class Answers {
  readonly #options: AnswerOptions;
  readonly #turns: RequestTurns;
  readonly #clientIps: ClientIps;
  readonly #gate: RequestGate;
  readonly #bodies = new UnfinishedBodies();
  readonly #removals: AccountTurns;
  readonly #expensiveReads: Turns;
  readonly #parsers: ReadonlyMap<RouteContract['id'], RequestParsers>;

  constructor(options: AnswerOptions, { routes, turns, clientIps }: RequestSources) {
    const { bounds } = options;
    this.#options = options;
    this.#turns = turns;
    this.#clientIps = clientIps;
    this.#parsers = new Map(
      routes.map(({ contract: { id, body, query } }) => [
        id,
        { readBody: body && bodyReader(body), checkQuery: query && validator(query) },
      ]),
    );
    this.#gate = new RequestGate(bounds);
    this.#removals = new AccountTurns(bounds);
    this.#expensiveReads = new Turns({
      runningMax: limits.expensiveReadsMax,
      runningPerOwnerMax: limits.expensiveReadsPerAccountMax,
      waitingMax: limits.writesWaitingMax,
      waitingPerOwnerMax: bounds.account,
      waitMsMax: limits.writeWaitMsMax,
    });
  }

  /** @throws what the authentication, the limits, the validation and the handler throw */
  async answer(match: Match, request: IncomingMessage): Promise<RouteResponse> {
    const { contract } = match.route;
    if (contract.auth === 'service_key') return this.#answerService(match, request);
    if (!isBounded(contract)) {
      await this.#turns.wait(request);
      return match.route.handle(toCall(await this.#call(match, request, undefined)));
    }
    await this.#turns.wait(request, classOf(contract));
    const slots = this.#gate.newRequest(classOf(contract));
    try {
      return await this.#answerInTurn(match, request, slots);
    } catch (error) {
      slots.release();
      await delayRejection(error);
      throw error;
    } finally {
      slots.release();
    }
  }

  /**
   * With a short body of one credential, one read returns the caller's key and that credential: the handler starts before
   * the caller is authenticated. This is safe because a verification only reads until its caller is known: the body states
   * the client IP and the cost, so a client without a valid key could otherwise spend the limits of a key that it may not use
   * from its own IP address. A batch waits for the authentication.
   */
  async #answerService(match: Match, request: IncomingMessage): Promise<RouteResponse> {
    const { contract, handle } = match.route;
    const { verifier } = this.#options;
    const presented = credentialOf(request.rawHeaders);
    const acceptsBasic = contract.body?.type === 'form';
    const clientIp = this.#clientIps.certainOf(request);
    const authenticate = (): ServiceCaller => authenticateService(this.#options, { presented, clientIp, acceptsBasic });
    const isPlausible = 'text' in presented || (acceptsBasic && presented.kind === 'basic');
    const isShort = isPlausible && contract !== verifyBatch && hasShortBody(request, limits.sharedReadBodyBytesMax);
    if (!isShort) {
      const caller = authenticate();
      await caller.promise;
      return handle(toCall(await this.#call(match, request, caller)));
    }
    let call: RequestCall;
    try {
      call = await this.#call(match, request, undefined);
    } catch (error) {
      // A client without a valid key gets the same response for every body.
      await authenticate().promise;
      throw error;
    }
    return verifier.together(() => {
      const caller = authenticate();
      return afterwards(caller.promise, handle(toCall(call.as(caller))));
    });
  }

  /** The handler's reads and writes use the share of the calling account, or of the client IP range. */
  async #answerInTurn(match: Match, request: IncomingMessage, slots: RequestSlots): Promise<RouteResponse> {
    const { contract, handle } = match.route;
    const workClass = classOf(contract);
    const { text, authenticate } = this.#presentedBy(match.route, request);
    if (text !== undefined) slots.acquire('credential', text);
    // The caller is authenticated before the query and the body are parsed.
    const principal = await authenticate();
    // A body that arrives slowly occupies no slot: `#bodies` bounds it.
    slots.release();
    const caller = principal && callerName(principal);
    const begin: BeginBody = (reject) =>
      this.#bodies.begin({ clientIp: this.#clientIps.of(request), credential: caller }, reject);
    const call = toCall(await this.#call(match, request, principal, begin));
    if (principal && caller !== undefined && workClass === 'narrowing')
      await slots.take(() => this.#removals.begin(accountOf(principal), caller));
    else if (principal) slots.acquire('account', accountOf(principal));
    if (text !== undefined) slots.acquire('credential', text);
    if (contract.auth === 'refresh_token')
      slots.acquire('credential', (call.body as unknown as RefreshTokenBody).refreshToken);
    const range = ipRange(call.clientIp);
    slots.acquire('range', range);
    if (principal && contract.isExpensive) await slots.take(() => this.#expensiveReads.begin(accountOf(principal)));
    const owner = principal ? accountShare(accountOf(principal), workClass) : rangeShare(range, workClass);
    const { span, traceId } = currentShare();
    return runInShare({ ...owner, span, traceId }, () => handle(call));
  }

  /** The credential of a request. Only routes of the console read the cookie, and only other routes read Authorization. */
  #presentedBy(route: Route, request: IncomingMessage): Presented {
    const { console, tokens } = this.#options;
    const { rawHeaders } = request;
    if (console && isOfConsole(route)) {
      const presented = readConsoleRequest(rawHeaders, console.origin, console.cookie);
      return { text: presented.cookie, authenticate: () => consoleCallerOf(route, tokens, console, presented) };
    }
    const presented = credentialOf(rawHeaders);
    return {
      text: 'text' in presented ? presented.text : undefined,
      authenticate: () => callerOf(route.contract, this.#options, presented, this.#clientIps.certainOf(request)),
    };
  }

  /** The values of the request that a handler receives. */
  async #call(
    { route, params }: Match,
    request: IncomingMessage,
    principal: AnyCaller | ServiceCaller | undefined,
    begin?: BeginBody,
  ): Promise<RequestCall> {
    const parsers = this.#parsers.get(route.contract.id);
    const query = parsers?.checkQuery?.(toRecord(queryOf(request)));
    route.checkHeaders?.((name) => headerOf(request, name));
    const body = await parsers?.readBody?.(request, begin);
    return new RequestCall(request, { principal, params, query, body }, this.#clientIps.of);
  }
}

/** The second result. If both promises are rejected, the first one decides. */
async function afterwards<T>(first: Promise<unknown>, second: Promise<T>): Promise<T> {
  // Without this handler, a rejection that precedes the first result would be unhandled.
  second.catch(() => undefined);
  await first;
  return second;
}

/** The route's contract has validated it. */
const toCall = (call: RequestCall): Call => call as unknown as Call;

const classOf = ({ isNarrowing }: RouteContract): WorkClass => (isNarrowing ? 'narrowing' : 'ordinary');

/** The verified credential, whichever of its tokens was presented: a session has as many access tokens as its client likes. */
function callerName(principal: AnyCaller): string {
  if (principal.kind === 'portal') return `portal ${principal.sessionId}`;
  return principal.kind === 'account' ? `session ${principal.sessionId}` : `key ${principal.keyId}`;
}

/** The account whose share the request uses. The people of one customer must not use up that of the backend, nor of other customers. */
const accountOf = (principal: AnyCaller): string =>
  principal.kind === 'portal' ? principal.serviceAccountId : principal.accountId;

/** Whether the credential of the route is the session cookie of the console. */
const isOfConsole = ({ contract: { auth }, isMirrored = false }: Route): boolean =>
  isMirrored || auth === 'console_session' || auth === 'console_sign_in';
