import { keccak256 } from '../../chain/crypto.js'
import { type AccountAccess, encodeBlockAccessList, type IndexedChange } from '../../chain/eth/blockAccessList.js'
import { DecodeError } from '../../chain/eth/rlp.js'
import type { Block, Header } from '../../chain/eth/types.js'
import { equalBytes, trimLeft } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { OptionalMethod } from '../upstreams/features.js'
import type { Pool } from '../upstreams/pool.js'
import type { Upstream } from '../upstreams/upstream.js'
import { checked } from './checked.js'
import { type Fields, parseData, readFields, readSlot } from './fields.js'
import { requestOptional } from './requestState.js'

/** The list of a block has another hash than its header. */
export const ACCESS_LIST_CHECK = 'access list hash'

/** Implements `UpstreamState.accessList`. */
export async function fetchAccessList(
  pool: Pool,
  block: Pick<Block, 'hash' | 'header'>,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const what = `the access list of block ${block.header.number}`
  return pool.find(what, async (upstream) => (await fetchAccessLists(upstream, [block], signal))[0], signal)
}

/** Returns the access lists of blocks (EIP-7928) as RLP with the hash of the header, in the order of the blocks;
 *  undefined for blocks before Amsterdam and for those whose list the upstream does not have.
 *  @throws UpstreamInvalidResponse with the check `access list hash`; UpstreamError */
export async function fetchAccessLists(
  upstream: Upstream,
  blocks: readonly Pick<Block, 'hash' | 'header'>[],
  signal: AbortSignal | undefined,
): Promise<(Uint8Array | undefined)[]> {
  const asked = blocks.filter(({ header }) => header.blockAccessListHash !== undefined)
  if (asked.length === 0) return blocks.map(() => undefined)
  const params = asked.map(({ hash }) => [formatData(hash)])
  const ask = (method: OptionalMethod) => requestOptional(upstream, method, params, signal)
  const raw = await ask('debug_getRawBlockAccessList')
  const answers = raw ?? (await ask('eth_getBlockAccessList')) ?? []
  const read = raw ? parseData : readList
  const lists = new Map(
    asked.map((block, i) => {
      const answer = answers[i]
      const bytes = answer && 'result' in answer && answer.result !== null ? read(answer.result) : undefined
      if (bytes) checked(upstream, block.header.number, () => requireHash(block.header, bytes))
      return [block, bytes]
    }),
  )
  return blocks.map((block) => lists.get(block))
}

function requireHash({ blockAccessListHash: expected }: Header, bytes: Uint8Array): void {
  const hash = keccak256(bytes)
  if (equalBytes(hash, expected!)) return
  throw new DecodeError(ACCESS_LIST_CHECK, `expected ${formatData(expected!)}, got ${formatData(hash)}`)
}

/** Encodes a list that was received as JSON; undefined for a form that is not known. */
function readList(result: unknown): Uint8Array | undefined {
  try {
    const entries = readFields({ list: result }, 'block access list').array('list')
    return encodeBlockAccessList(entries.map((entry) => readAccount(readFields(entry, 'block access list'))))
  } catch (error) {
    if (error instanceof DecodeError || error instanceof RangeError) return undefined
    throw error
  }
}

function readAccount(fields: Fields): AccountAccess {
  const list = (name: string) => fields.optional(name, fields.array) ?? []
  const changes = <T>(name: string, read: (change: Fields) => T) => readChanges(list(name), read)
  return {
    address: fields.fixed('address', 20),
    storageChanges: list('storageChanges').map((entry) => {
      const { key, slot } = entry as { key?: unknown; slot?: unknown } // geth writes `slot`
      const values = readFields(entry, 'block access list').array('changes')
      const change = (each: Fields) => trimLeft(readSlot(each.member('value')))
      return { slot: readSlot(key ?? slot), changes: readChanges(values, change) }
    }),
    storageReads: list('storageReads').map(readSlot),
    balanceChanges: changes('balanceChanges', (each) => each.quantity('value')),
    nonceChanges: changes('nonceChanges', (each) => each.quantity('value')),
    codeChanges: changes('codeChanges', (each) => each.data('code')),
  }
}

function readChanges<T>(entries: readonly unknown[], read: (change: Fields) => T): IndexedChange<T>[] {
  return entries.map((entry) => {
    const fields = readFields(entry, 'block access list')
    return { index: Number(fields.quantity('index')), value: read(fields) }
  })
}
