/** Ids of accounts in requests. */

/** Whether a text can be the id of an account. Other texts can contain characters that PostgreSQL rejects. */
export const isAccountId = (text: string): boolean => /^acc_[0-9A-Za-z]{1,60}$/.test(text);
