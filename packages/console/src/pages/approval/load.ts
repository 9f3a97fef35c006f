/** The page on which a person approves a request, with its texts. One file of the output, which loads when it is needed. */
import { loadApprovalTexts } from '../../text/approval-text.ts';
import { ApprovalPage } from './approval-page.tsx';

export * from '../shared-parts.ts';

export async function load(): Promise<typeof ApprovalPage> {
  await loadApprovalTexts();
  return ApprovalPage;
}
