const NAME = /^[A-Za-z0-9_$-][A-Za-z0-9._$-]{0,254}$/

/** Suffix of temporary files; no key has it. */
export const TEMPORARY = '.tmp'

/** Checks and returns the key. @throws Error for one that a store does not accept: keys are made by the program */
export function requireKey(key: string): string {
  const names = key.split('/')
  if (names.every((name) => NAME.test(name)) && !key.endsWith(TEMPORARY)) return key
  throw new Error(`not a key of an object: ${JSON.stringify(key)}`)
}
