/** The data of the overview. */
import type { ResponseOf } from '../../../api.ts';

export type Overview = ResponseOf<'GET /admin/overview'>;
