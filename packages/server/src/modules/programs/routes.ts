/** HTTP routes of programs, for administrators. */
import * as contract from '@keyreeve/contract';
import { route, type Route } from '../../http/route.ts';
import { toProgram } from './program.ts';
import type { Programs, Removal } from './programs.ts';

export const programAdminRoutes = (programs: Programs): readonly Route[] => [
  route(contract.adminListPrograms, async () => ({
    status: 200,
    body: { programs: (await programs.list()).map(toProgram), removed: await programs.listRemoved() },
  })),
  route(contract.adminAddProgram, async ({ principal, body }) => {
    const added = await programs.add(principal, body);
    return { status: 201, headers: ['Location', `/admin/programs/${added.id}`], body: toProgram(added) };
  }),
  route(contract.adminGetProgram, async ({ params: { id } }) => ({
    status: 200,
    body: toProgram(await programs.find(id)),
  })),
  route(contract.adminChangeProgram, async ({ principal, params: { id }, body }) => ({
    status: 200,
    body: toProgram(await programs.change(principal, id, body)),
  })),
  route(contract.adminRemoveProgram, async ({ principal, params: { id }, query }) => {
    const removal = await programs.remove(principal, id, query.keys === 'delete');
    return { status: 200, body: { message: removalMessage(id, removal), ...removal } };
  }),
];

export function removalMessage(id: string, { deletedKeys, remainingKeys }: Removal): string {
  const deleted = deletedKeys === 0 ? '' : ` Deleted keys: ${deletedKeys}.`;
  return `The program ${id} has been removed.${deleted} ${remainingKeys === 0 ? 'It has no keys.' : `Keys that exist: ${remainingKeys}.`}`;
}
