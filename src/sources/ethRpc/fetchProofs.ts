import { EMPTY_CODE_HASH } from '../../chain/eth/emptyHashes.js'
import { ProofNodes, type ProvedAccount, verifyAccountProof, verifyStorageProof } from '../../chain/eth/proof.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import { EMPTY_TRIE_ROOT } from '../../chain/eth/trie.js'
import { bytesToBigInt, equalBytes } from '../../lib/bytes.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { createPause } from '../../lib/pause.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import { UpstreamOversized, UpstreamRpcError, UpstreamTimeout } from '../upstreams/errors.js'
import type { Pool } from '../upstreams/pool.js'
import type { Upstream } from '../upstreams/upstream.js'
import { type Fields, parseData, readFields } from './fields.js'
import { inGroups } from './inGroups.js'
import { requestState } from './requestState.js'
import type { ProvedKeys, StateBlock } from './stateTypes.js'

const METHOD = 'eth_getProof'
// geth refuses more slots in one call. A proof of mainnet has some 5 KB a slot, so a group has at most about 10 MB.
const MAX_SLOTS = 1024
const MAX_ACCOUNTS = 32

/** Implements `UpstreamState.proofs`. */
export async function fetchProofs(
  pool: Pool,
  requests: readonly StateKeys[],
  block: StateBlock,
  signal: AbortSignal | undefined,
): Promise<ProvedKeys[]> {
  const groups = splitRequests(requests)
  const proved = await inGroups(
    groups,
    (parts, each) =>
      pool.run((upstream) => fetchGroup(upstream, { keys: parts.map(({ keys }) => keys), block }, each), each),
    signal,
  )
  const parts: ProvedKeys[][] = requests.map(() => [])
  for (const [g, group] of groups.entries()) {
    for (const [i, { request }] of group.entries()) parts[request].push(proved[g][i])
  }
  return requests.map((keys, i) => joinParts(keys, parts[i]))
}

/** Joins the proofs of parts of the slots, which all prove the account. */
function joinParts(keys: StateKeys, parts: readonly ProvedKeys[]): ProvedKeys {
  return {
    ...keys,
    account: parts[0].account,
    values: parts.flatMap(({ values }) => values),
    nodes: parts.flatMap(({ nodes }) => nodes),
  }
}

/** Slots of one request, at most 1,024. */
interface RequestPart {
  readonly request: number
  readonly keys: StateKeys
}

/** Splits requests into groups of at most 32 calls and 1,024 slots, in order. */
function splitRequests(requests: readonly StateKeys[]): RequestPart[][] {
  const groups: RequestPart[][] = []
  let slotsLeft = 0
  for (const [request, { address, slots }] of requests.entries()) {
    for (let from = 0; from === 0 || from < slots.length; from += MAX_SLOTS) {
      const keys = { address, slots: slots.slice(from, from + MAX_SLOTS) }
      const group = groups.at(-1)
      if (group && group.length < MAX_ACCOUNTS && keys.slots.length <= slotsLeft) group.push({ request, keys })
      else {
        groups.push([{ request, keys }])
        slotsLeft = MAX_SLOTS
      }
      slotsLeft -= keys.slots.length
    }
  }
  return groups
}

/** Returns the proofs of one group from one upstream. Asks for half of the slots at a time where all are too many.
 *  @throws UpstreamInvalidResponse with the check `proof: account` or `proof: slot`; StateNotAtUpstream;
 *  UpstreamError */
export async function fetchGroup(
  upstream: Upstream,
  { keys, block }: { keys: readonly StateKeys[]; block: StateBlock },
  signal: AbortSignal | undefined,
): Promise<ProvedKeys[]> {
  try {
    return await fetchAtOnce(upstream, { keys, block }, signal)
  } catch (error) {
    const large = keys.filter(({ slots }) => slots.length > 1)
    if (!isTooLarge(error) || large.length === 0) throw error
    const middle = ({ slots }: StateKeys) => Math.ceil(slots.length / 2)
    const halves = [
      keys.map((each) => ({ ...each, slots: each.slots.slice(0, middle(each)) })),
      large.map((each) => ({ ...each, slots: each.slots.slice(middle(each)) })),
    ]
    const first = await fetchGroup(upstream, { keys: halves[0], block }, signal)
    const second = await fetchGroup(upstream, { keys: halves[1], block }, signal)
    const rest = new Map(large.map((each, i) => [each, second[i]]))
    return keys.map((each, i) => {
      const other = rest.get(each)
      return other ? joinParts(each, [first[i], other]) : first[i]
    })
  }
}

/** True for failures that fewer slots may not have. Providers allow fewer than geth in one call. */
function isTooLarge(error: unknown): boolean {
  if (error instanceof UpstreamOversized || error instanceof UpstreamTimeout) return true
  return error instanceof UpstreamRpcError && /too (many|large|big)|at most|exceed|\blimit|\bmax/i.test(error.message)
}

async function fetchAtOnce(
  upstream: Upstream,
  { keys, block }: { keys: readonly StateKeys[]; block: StateBlock },
  signal: AbortSignal | undefined,
): Promise<ProvedKeys[]> {
  const params = keys.map(({ address, slots }) => [formatData(address), slots.map(formatData)])
  const { results, verify } = await requestState(upstream, { method: METHOD, params, block }, signal)
  const pause = createPause(20)
  const proofs: ProvedKeys[] = []
  const shared: SharedNodes = { nodes: new ProofNodes(), byText: new Map() }
  for (const [i, each] of keys.entries()) {
    await pause()
    proofs.push(await verify(() => readProof(results[i], each, { stateRoot: block.stateRoot, shared })))
  }
  return proofs
}

/** Nodes of one response: those near the root are in all proofs. */
interface SharedNodes {
  readonly nodes: ProofNodes
  /** Their bytes by the text that was received. */
  readonly byText: Map<unknown, Uint8Array>
}

/** @throws DecodeError whose path is the check */
function readProof(
  result: unknown,
  keys: StateKeys,
  { stateRoot, shared }: { stateRoot: Uint8Array; shared: SharedNodes },
): ProvedKeys {
  const { nodes: proofNodes } = shared
  const { address, slots } = keys
  const [fields, accountNodes, account] = asCheck('proof: account', formatData(address), () => {
    const read = readFields(result, METHOD)
    const proof = readNodes(read, 'accountProof', shared)
    const proved = verifyAccountProof({ stateRoot, address, proof, nodes: proofNodes })
    compareFields(read, address, proved)
    return [read, proof, proved] as const
  })
  const storageRoot = account?.storageRoot ?? EMPTY_TRIE_ROOT
  const nodes = [...accountNodes]
  const values = asCheck('proof: slot', formatData(address), () => {
    const list = fields.array('storageProof')
    if (list.length !== slots.length) {
      throw new DecodeError('storageProof', `expected ${slots.length}, one for each slot, got ${list.length}`)
    }
    return slots.map((slot, i) => {
      const entry = readFields(list[i], `storageProof[${i}]`)
      requireSlot(entry, list[i], slot)
      const proof = readNodes(entry, 'proof', shared)
      const value = under(entry.path, () => verifyStorageProof({ storageRoot, slot, proof, nodes: proofNodes }))
      requireEqual(entry, 'value', bytesToBigInt(value))
      for (const node of proof) nodes.push(node)
      return value
    })
  })
  return { address, slots, account, values, nodes }
}

/** Compares the plain members with the proved account. Of an account that does not exist, geth has hashes of zero,
 *  others those of no code and no storage. */
function compareFields(fields: Fields, address: Uint8Array, account: ProvedAccount | undefined): void {
  if (fields.has('address')) fields.requireSame('address', address)
  requireEqual(fields, 'balance', account?.balance ?? 0n)
  requireEqual(fields, 'nonce', account?.nonce ?? 0n)
  const requireHash = (name: string, expected: Uint8Array) => {
    const isZero = account === undefined && fields.fixed(name, 32).every((byte) => byte === 0)
    if (!isZero) fields.requireSame(name, expected)
  }
  requireHash('codeHash', account?.codeHash ?? EMPTY_CODE_HASH)
  requireHash('storageHash', account?.storageRoot ?? EMPTY_TRIE_ROOT)
}

function requireEqual(fields: Fields, name: string, proved: bigint): void {
  const actual = fields.quantity(name)
  if (actual === proved) return
  throw new DecodeError(`${fields.path}.${name}`, `expected ${formatQuantity(proved)}, got ${formatQuantity(actual)}`)
}

/** Nodes repeat a slot as data of 32 bytes or as a quantity. */
function requireSlot(entry: Fields, value: unknown, slot: Uint8Array): void {
  const { key } = value as { key?: unknown }
  const isData = parseData(key)?.length === 32
  if (isData ? equalBytes(entry.fixed('key', 32), slot) : entry.quantity('key') === bytesToBigInt(slot)) return
  throw new DecodeError(`${entry.path}.key`, `expected ${formatData(slot)}, got ${String(key)}`)
}

/** Returns the nodes of a list: the same array for the same text. */
function readNodes(fields: Fields, name: string, { byText }: SharedNodes): Uint8Array[] {
  return fields.array(name).map((item, i) => {
    const known = byText.get(item)
    if (known) return known
    const bytes = parseData(item)
    if (bytes) {
      byText.set(item, bytes)
      return bytes
    }
    throw new DecodeError(`${fields.path}.${name}[${i}]`, 'expected hex data')
  })
}

function under<T>(path: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    throw error instanceof DecodeError ? new DecodeError(`${path}.${error.path}`, error.problem) : error
  }
}

/** Returns what `decode` returns. @throws DecodeError whose path is the check, and that names `what` */
function asCheck<T>(check: string, what: string, decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    throw error instanceof DecodeError ? new DecodeError(check, `${what}: ${error.message}`) : error
  }
}
