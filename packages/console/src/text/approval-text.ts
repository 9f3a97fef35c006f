/** The texts of the page on which a person approves a program, in the user's language. They load with the page. */
import { loadLater, textsIn } from './load-texts.ts';
import { locale } from './text.ts';
import type { ApprovalTexts } from './texts.ts';

/** Defined before the page is rendered. */
export let approvalText: ApprovalTexts;

export const loadApprovalTexts = (): Promise<void> => loadLater(load);

async function load(): Promise<void> {
  approvalText = await textsIn<ApprovalTexts>(
    locale,
    async () => (await import('./en-approval.ts')).enApproval,
    async () => (await import('./de-approval.ts')).deApproval,
  );
}
