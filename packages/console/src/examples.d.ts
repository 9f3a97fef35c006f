/** Inserted by the build from the documentation (examples.ts beside build.ts): JSON of an object with these members. */
declare const EXAMPLES: string;
