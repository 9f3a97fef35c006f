/** Members that routes of administration share. */
import Type from 'typebox';
import { AccountDetail } from './admin-schemas.ts';
import { AccountId, Message } from './schemas.ts';

export const administrator = { tag: 'Administration', auth: 'administrator' } as const;
/** A change. All changes by administrators use the reserved capacity: most remove rights, and only few callers send them. */
export const changing = { ...administrator, needsRecentSignIn: true, isNarrowing: true } as const;
export const ofAccount = { params: Type.Object({ id: AccountId }) } as const;
export const account = { status: 200, description: 'The account', schema: AccountDetail } as const;
export const message = { status: 200, description: 'It is done', schema: Message } as const;
