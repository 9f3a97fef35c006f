/** Languages of what people read: mail and the pages that its links open. The API itself answers in English. */

/** BCP 47 tags. The first is the default. */
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];
