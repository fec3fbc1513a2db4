import { readFileSync, statSync } from 'node:fs'
import { messageOf, UsageError } from '../lib/errors.js'
import { parseMethodPatterns } from '../server/access/methodPatterns.js'
import type { TransferredKey } from '../store/keys/keyTransfer.js'

/** Max length of a key name. */
export const MAX_NAME_CHARACTERS = 100

const MAX_FILE_BYTES = 64 * 2 ** 20
const MAX_LIMIT = 1_000_000
const MEMBERS = new Set(['name', 'sha256', 'createdAt', 'revokedAt', 'rateRps', 'maxConcurrent', 'methods'])

/** Returns true for a valid key name: 1 to 100 printable characters, not only spaces. */
export function isKeyName(name: string): boolean {
  return name.trim() !== '' && name.length <= MAX_NAME_CHARACTERS && !/\p{Cc}/u.test(name)
}

/** Reads the keys of a file written by `cairn keys export`, at most 64 MiB. @throws UsageError that names the invalid
 *  member */
export function readKeysFile(path: string): TransferredKey[] {
  const fail = (problem: string) => new UsageError(`keys import ${path}: ${problem}`)
  let value: unknown
  try {
    const { size } = statSync(path)
    if (size > MAX_FILE_BYTES) throw new Error(`expected at most ${MAX_FILE_BYTES} bytes, got ${size}`)
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw fail(error instanceof SyntaxError ? 'expected JSON' : messageOf(error))
  }
  if (!Array.isArray(value)) throw fail("expected the array that 'cairn keys export' writes")
  const seen = new Set<string>()
  return value.map((each: unknown, i) => {
    const key = readKey(each, (member, expected, got) => {
      throw fail(`[${i}]${member}: expected ${expected}, got ${describe(got)}`)
    })
    if (seen.has(key.sha256)) throw fail(`[${i}].sha256: expected each key once`)
    seen.add(key.sha256)
    return key
  })
}

type Fail = (member: string, expected: string, got: unknown) => never

function readKey(value: unknown, fail: Fail): TransferredKey {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('', 'an object', value)
  const key = value as { readonly [member: string]: unknown }
  const surplus = Object.keys(key).find((member) => !MEMBERS.has(member))
  if (surplus !== undefined) fail('', `no member '${surplus.slice(0, 40)}'`, 'one')
  const { name, sha256, methods } = key
  if (typeof name !== 'string' || !isKeyName(name)) {
    return fail('.name', `1 to ${MAX_NAME_CHARACTERS} printable characters`, name)
  }
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) return fail('.sha256', '64 hex digits', sha256)
  const integer = (member: string, most: number) => {
    const found = key[member]
    const isRight = Number.isSafeInteger(found) && (found as number) >= 1 && (found as number) <= most
    return isRight ? (found as number) : fail(`.${member}`, `a whole number of 1 to ${most}`, found)
  }
  const maybe = (member: string, most: number) => (key[member] === undefined ? undefined : integer(member, most))
  const [revokedAt, rateRps, maxConcurrent] = [
    maybe('revokedAt', Number.MAX_SAFE_INTEGER),
    maybe('rateRps', MAX_LIMIT),
    maybe('maxConcurrent', MAX_LIMIT),
  ]
  return {
    name,
    sha256,
    createdAt: integer('createdAt', Number.MAX_SAFE_INTEGER),
    ...(revokedAt !== undefined && { revokedAt }),
    ...(rateRps !== undefined && { rateRps }),
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(methods !== undefined && { methods: readMethods(methods, fail) }),
  }
}

function readMethods(methods: unknown, fail: Fail): readonly string[] {
  const isList = Array.isArray(methods) && methods.length > 0 && methods.every((each) => typeof each === 'string')
  const patterns = isList ? parseMethodPatterns(methods.join(',')) : undefined
  return patterns ?? fail('.methods', "names of methods such as ['eth_*', '!logs']", methods)
}

function describe(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80)
}
