/** Programs that sign in as a device. */
import {
  adminAddProgram,
  adminChangeProgram,
  adminGetProgram,
  adminListPrograms,
  adminRemoveProgram,
  type NewProgramBody,
  type Program,
  type ProgramChangeBody,
  type ProgramList,
} from '@keyreeve/contract';
import { toProgram } from '../../modules/programs/program.ts';
import type { Removal } from '../../modules/programs/programs.ts';
import type { RemoteService } from '../remote/remote-service.ts';
import { operator, type CommandContext } from '../session.ts';

export interface ProgramOperations {
  add(program: NewProgramBody): Promise<Program>;
  list(): Promise<ProgramList>;
  find(id: string): Promise<Program>;
  change(id: string, change: ProgramChangeBody): Promise<Program>;
  /** @param deletesKeys a part of its keys, if there are many: until none remain, it is called again */
  remove(id: string, deletesKeys: boolean): Promise<Removal>;
}

export const localPrograms = ({ programs }: CommandContext): ProgramOperations => ({
  add: async (program) => toProgram(await programs.add(operator, program)),
  list: async () => ({ programs: (await programs.list()).map(toProgram), removed: await programs.listRemoved() }),
  find: async (id) => toProgram(await programs.find(id)),
  change: async (id, change) => toProgram(await programs.change(operator, id, change)),
  remove: (id, deletesKeys) => programs.remove(operator, id, deletesKeys),
});

export const remotePrograms = (service: RemoteService): ProgramOperations => ({
  add: (body) => service.request(adminAddProgram, { body }),
  list: () => service.request(adminListPrograms),
  find: (id) => service.request(adminGetProgram, { params: { id } }),
  change: (id, body) => service.request(adminChangeProgram, { params: { id }, body }),
  remove: (id, deletesKeys) =>
    service.request(adminRemoveProgram, { params: { id }, query: deletesKeys ? { keys: 'delete' } : {} }),
});
