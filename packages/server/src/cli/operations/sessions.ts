/** The sessions of an account. */
import { adminEndSession, adminEndSessions, adminListSessions, type ListedSession } from '@keyreeve/contract';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';

export interface SessionOperations {
  list(accountId: string): Promise<readonly ListedSession[]>;
  end(accountId: string, id: string): Promise<void>;
  endAll(accountId: string): Promise<void>;
}

export const localSessions = ({ accounts, administration, tokenPairs }: CommandContext): SessionOperations => ({
  async list(accountId) {
    await accounts.findPerson(accountId);
    return tokenPairs.listSessions({ kind: 'account', accountId, sessionId: '' });
  },
  end: (accountId, id) => administration.endSession(operator, accountId, id),
  endAll: (accountId) => accounts.endSessions(operator, accountId),
});

export const remoteSessions = (service: RemoteService): SessionOperations => ({
  list: async (id) => (await service.request(adminListSessions, { params: { id } })).sessions,
  end: async (id, sessionId) => void (await service.request(adminEndSession, { params: { id, sessionId } })),
  endAll: async (id) => void (await service.request(adminEndSessions, { params: { id } })),
});
