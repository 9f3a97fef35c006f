/** The overview of the installation. */
import { adminGetOverview, type Overview } from '@keyreeve/contract';
import type { RemoteService } from '../remote/remote-service.ts';
import type { CommandContext } from '../session.ts';

export interface OverviewOperations {
  read(): Promise<Overview>;
}

export const localOverview = ({ overview }: CommandContext): OverviewOperations => ({ read: () => overview.read() });

export const remoteOverview = (service: RemoteService): OverviewOperations => ({
  read: () => service.request(adminGetOverview),
});
