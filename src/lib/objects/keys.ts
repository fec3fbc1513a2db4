const NAME = /^[A-Za-z0-9_$-][A-Za-z0-9._$-]{0,254}$/

/** Names of a temporary file end so; no key does. */
export const TEMPORARY = '.tmp'

/** The key, checked. @throws Error for one that a store does not take: keys are made by the program */
export function requireKey(key: string): string {
  const names = key.split('/')
  if (names.every((name) => NAME.test(name)) && !key.endsWith(TEMPORARY)) return key
  throw new Error(`not a key of an object: ${JSON.stringify(key)}`)
}
